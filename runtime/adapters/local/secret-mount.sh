# Runs "$@" where /var/service/secrets and /var/openfaas/secrets are the directory $2, read-only. To be run in a mount
# namespace of its own; the system's /var is left as it is: a view of it, assembled at $1, takes its place.
set -e
stage=$1
view=$2
shift 2

show() {
  mount --bind "$view" "$1"
  mount -o remount,bind,ro "$1"
}

# Mounts every entry of directory $1 below directory $2, but those named in $3.
mirror() {
  for entry in "$1"/* "$1"/.[!.]*; do
    entry_name=${entry##*/}
    case " $3 " in *" $entry_name "*) continue ;; esac
    if [ -L "$entry" ]; then
      cp -P "$entry" "$2/$entry_name"
    elif [ -d "$entry" ]; then
      mkdir "$2/$entry_name"
      mount --rbind "$entry" "$2/$entry_name"
    elif [ -e "$entry" ]; then
      : >"$2/$entry_name"
      mount --bind "$entry" "$2/$entry_name"
    fi
  done
}

if [ -d /var/service/secrets ] && [ -d /var/openfaas/secrets ]; then
  show /var/service/secrets
  show /var/openfaas/secrets
else
  mount -t tmpfs -o mode=755,size=64k weir "$stage"
  mirror /var "$stage" "service openfaas"
  for name in service openfaas; do
    mkdir "$stage/$name" "$stage/$name/secrets"
    mirror "/var/$name" "$stage/$name" secrets
    show "$stage/$name/secrets"
  done
  mount --rbind "$stage" /var
fi
exec "$@"
