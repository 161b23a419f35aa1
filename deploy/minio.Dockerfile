# The object store of docker-compose.yml: MinIO at the last commit before its archiving. It is built
# from its Go module, because no published image has that commit. `npm run test:s3` runs the same
# version.
ARG GO_IMAGE=golang:1.26.8-alpine3.23@sha256:a8fa79c5bd40d880b52bd3b6d7669ecdcfd00e85facdd427d279efb5ddd79cb1
ARG ALPINE_IMAGE=alpine:3.23.6@sha256:85fe1e81d6758c208f3e1eed4338a1997e19d4be002d4dd32d3100c9a8c010a0

FROM ${GO_IMAGE} AS build
ENV CGO_ENABLED=0
RUN --mount=type=cache,id=intake-go,target=/root/.cache/go-build \
    go install github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c

FROM ${ALPINE_IMAGE}
COPY --from=build /go/bin/minio /usr/local/bin/minio
EXPOSE 9000
ENTRYPOINT ["minio"]
