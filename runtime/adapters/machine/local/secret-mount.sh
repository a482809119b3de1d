# Runs a command with directory $2 mounted read-only at /var/service/secrets and /var/openfaas/secrets; unless $3 is
# empty, with directory $3 (a field of fstab) mounted at /var/service/folder, $4 (ro or rw), as working directory. Must
# run in a mount namespace of its own. The system's /var does not change: a view of it, assembled below directory $1, is
# mounted over it.
set -e
list=$1/mounts
stage=$1/var
view=$2
folder=$3
access=$4
shift 4

# One line per mount, for one call of mount: a call per mount would take longer than all mounts together.
mounts=
add() {
  mounts="$mounts$1 $2 none $3,X-mount.mkdir 0 0
"
}

# Mounts every entry of directory $1 below directory $2, except those named in $3.
mirror() {
  for entry in "$1"/* "$1"/.[!.]*; do
    entry_name=${entry##*/}
    case " $3 " in *" $entry_name "*) continue ;; esac
    case $entry_name in *[!-._a-zA-Z0-9]*) continue ;; esac
    if [ -L "$entry" ]; then
      cp -P "$entry" "$2/$entry_name"
    elif [ -d "$entry" ]; then
      add "$entry" "$2/$entry_name" rbind
    elif [ -e "$entry" ]; then
      : >"$2/$entry_name"
      add "$entry" "$2/$entry_name" bind
    fi
  done
}

if [ -d /var/service/secrets ] && [ -d /var/openfaas/secrets ] && { [ -z "$folder" ] || [ -d /var/service/folder ]; }; then
  add "$view" /var/service/secrets bind,ro
  add "$view" /var/openfaas/secrets bind,ro
  [ -z "$folder" ] || add "$folder" /var/service/folder "bind,$access"
else
  mount -t tmpfs -o mode=755,size=64k,X-mount.mkdir weir "$stage"
  mirror /var "$stage" "service openfaas"
  for name in service openfaas; do
    mirror "/var/$name" "$stage/$name" "secrets${folder:+ folder}"
    add "$view" "$stage/$name/secrets" bind,ro
  done
  [ -z "$folder" ] || add "$folder" "$stage/service/folder" "bind,$access"
  add "$stage" /var rbind
fi
printf %s "$mounts" >"$list"
mount --all --fstab "$list"
[ -z "$folder" ] || cd /var/service/folder
exec "$@"
