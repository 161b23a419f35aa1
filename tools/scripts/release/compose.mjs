// Turns docker-compose.yml, which builds the images, into the one of a release, which loads them.

/**
 * Replaces every `build` by the image of a release. `images` is registry and folder of the images;
 * without it, whoever starts the containers must set INTAKE_IMAGES.
 */
export function composeOfImages(compose, { version, images }) {
  const prefix = images
    ? `\${INTAKE_IMAGES:-${images}}`
    : '${INTAKE_IMAGES:?registry and folder of the images of Intake}'
  const named = compose
    .replaceAll(
      /build: \{ context: \., dockerfile: deploy\/Dockerfile, target: (\w+) \}/g,
      (_, target) => `image: ${prefix}/intake-${target}:${version}`,
    )
    .replaceAll(
      /build: \{ context: deploy, dockerfile: (\w+)\.Dockerfile \}/g,
      (_, name) => `image: ${prefix}/intake-${name}:${version}`,
    )
    .replaceAll(' --build', '')
  if (/^\s+build:/m.test(named)) throw new Error('docker-compose.yml has an unknown form of build')
  return named
}

/** Returns the files and folders of the clone that the services mount. */
export function mountedFiles(compose) {
  return [...new Set([...compose.matchAll(/- \.\/(deploy\/[^:\s]+):/g)].map(([, file]) => file))]
}
