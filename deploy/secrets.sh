#!/bin/sh
# Makes the secrets of docker-compose.yml. Runs in the service `secrets` before all other services,
# and again at every `up`. A secret is random and made once, or has the value of a variable in
# `.env`. It is kept in $SECRETS/kept. Each service gets a folder with only the secrets that it
# needs, as files that contain the value or the whole URL.
#   secrets.sh               make missing secrets, write the folders
#   secrets.sh show NAME     print a secret
#   secrets.sh rotate NAME   replace a secret with a new random value
#   secrets.sh env           print the URLs for programs on this machine, as shell commands
set -eu
umask 022
folder=${SECRETS:-/secrets}
acl=${REDIS_ACL:-/users.acl} # deploy/redis/users.acl
names='redis-password redis-gateway-password redis-worker-password redis-operator-password'
names="$names clickhouse-password clickhouse-worker-password clickhouse-reader-password"
names="$names clickhouse-analyst-password s3-secret-key page-password grafana-password"

main() {
  case ${1:-make} in
    make) make_all ;;
    show) require "${2-}" && cat "$folder/kept/$2" && echo ;;
    rotate)
      require "${2-}"
      [ -z "$(given "$2")" ] || fail "$(variable "$2") has a value of yours: change it there"
      write kept "$2" "$(random)"
      make_all
      ;;
    env) print_env ;;
    *) fail "unknown command $1: make, show NAME, rotate NAME or env" ;;
  esac
}

make_all() {
  mkdir -p "$folder/kept" && chmod 700 "$folder/kept"
  for name in $names; do
    value=$(given "$name")
    [ -n "$value" ] || [ -s "$folder/kept/$name" ] || value=$(random)
    case $name in page-* | grafana-*) ;; *) fit_for_url "$(variable "$name")" "$value" ;; esac
    [ -z "$value" ] || write kept "$name" "$value"
  done
  fit_for_url S3_ACCESS_KEY "$S3_ACCESS_KEY"
  page=$(kept page-password)
  [ ${#page} -ge 12 ] || fail 'PAGE_PASSWORD needs at least 12 characters: set it, or rotate page-password'

  write redis password "$(kept redis-password)"
  write redis users.acl "$(sed -e "s/ADMIN_PASSWORD/$(kept redis-password)/" \
    -e "s/GATEWAY_PASSWORD/$(kept redis-gateway-password)/" \
    -e "s/WORKER_PASSWORD/$(kept redis-worker-password)/" \
    -e "s/OPERATOR_PASSWORD/$(kept redis-operator-password)/" "$acl")"
  write clickhouse intake-sha256 "$(hash_of clickhouse-password)"
  for user in worker reader analyst; do
    write clickhouse $user-sha256 "$(hash_of clickhouse-$user-password)"
  done
  write s3 secret-key "$(kept s3-secret-key)"
  write grafana password "$(kept grafana-password)"

  write gateway redis-url "$(redis_url gateway redis-gateway-password redis:6379)"
  write worker redis-url "$(redis_url worker redis-worker-password redis:6379)"
  write cli redis-url "$(redis_url operator redis-operator-password redis:6379)"
  write console redis-url "$(redis_url worker redis-worker-password redis:6379)"
  for service in gateway console cli; do
    write $service s3-endpoint "$(s3_endpoint s3:9000)"
  done
  write worker clickhouse-url "$(clickhouse_url worker clickhouse-worker-password clickhouse:8123)"
  write console clickhouse-url "$(clickhouse_url worker clickhouse-worker-password clickhouse:8123)"
  write console page-clickhouse-url "$(clickhouse_url reader clickhouse-reader-password clickhouse:8123)"
  write console page-password "$(kept page-password)"
  for name in webhook-url webhook-secret webhook-token webhooks; do
    value=$(given feedback-$name)
    rm_or_write console feedback-$name "$value"
  done
  write cli clickhouse-url "$(clickhouse_url intake clickhouse-password clickhouse:8123)"
}

print_env() {
  echo "export REDIS_URL=$(redis_url default redis-password "127.0.0.1:$REDIS_PORT")"
  echo "export CLICKHOUSE_URL=$(clickhouse_url intake clickhouse-password "127.0.0.1:$CLICKHOUSE_PORT")"
  echo "export S3_ENDPOINT=$(s3_endpoint "127.0.0.1:$S3_PORT")"
}

redis_url() { echo "redis://$1:$(kept "$2")@$3"; }
clickhouse_url() { echo "http://$1:$(kept "$2")@$3"; }
s3_endpoint() { echo "http://$S3_ACCESS_KEY:$(kept s3-secret-key)@$1"; }

kept() { cat "$folder/kept/$1"; }
hash_of() { kept "$1" | sha256sum | cut -d ' ' -f 1; }
random() { od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n'; }
variable() { echo "$1" | tr 'a-z-' 'A-Z_'; }
given() { eval "printf %s \"\${$(variable "$1"):-}\""; }
fit_for_url() {
  case $2 in *[!A-Za-z0-9]*) fail "$1 may have letters and digits only: it becomes part of a URL" ;; esac
}

require() {
  case " $names " in *" ${1:-?} "*) ;; *) fail "NAME is one of: $names" ;; esac
  [ -s "$folder/kept/$1" ] || fail "$1 does not exist yet"
}

# A secret that nobody gives any more does not stay.
rm_or_write() { # folder, name, value
  if [ -n "$3" ]; then write "$1" "$2" "$3"; else rm -f "$folder/$1/$2"; fi
}

# Writes a file atomically, and only if its content changes, so that an unchanged file keeps its
# time. Every user may read the file: the services run as different users, and each folder is
# mounted only into its service.
write() { # folder, name, value
  file=$folder/$1/$2
  mkdir -p "$folder/$1"
  [ "$(cat "$file" 2>/dev/null)" != "$3" ] || return 0
  rm -f "$file.new"
  printf %s "$3" >"$file.new"
  chmod 444 "$file.new"
  mv "$file.new" "$file"
}

fail() {
  echo "secrets: $1" >&2
  exit 1
}

main "$@"
