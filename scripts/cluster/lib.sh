# Shared by build, up, load, status and down; sourced, not run.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
umask 022

BIN=${WEIR_CLUSTER_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/weir-cluster/bin}
DIR=${TMPDIR:-/tmp}/weir-cluster
NODE=weir-node
BRIDGE=weir0
POD_NET=10.244            # pods: POD_NET.0.0/16; the node is POD_NET.0.1
SVC_NET=10.96             # services: SVC_NET.0.0/16; DNS is SVC_NET.0.10
PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# set_dir PATH: an absolute DIR, short enough for the Unix sockets below it.
set_dir() {
  DIR=$(realpath -m -- "$1")
  ((${#DIR} <= 60)) || die "$DIR is too long a path for Unix sockets (60 characters at most)"
  [[ $DIR != / ]] || die "DIR cannot be /"
}

# start_time PID: when the process started, to tell it from a later one with the same pid.
start_time() {
  local s
  { s=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  read -ra s <<<"${s##*) }"
  [[ ${s[0]} != Z ]] && echo "${s[19]}"
}

# start NAME COMMAND...: runs it in a session of its own, with a log and a pid file.
start() {
  local name=$1
  shift
  setsid "$@" >"$DIR/log/$name.log" 2>&1 </dev/null &
  printf '%s %s\n' "$!" "$(start_time "$!" || echo 0)" >"$DIR/pid/$name"
}

# alive NAME: the process we started under this name still runs; its pid is in $pid.
alive() {
  local began
  { read -r pid began <"$DIR/pid/$1"; } 2>/dev/null || return 1
  [[ $(start_time "$pid") == "$began" ]]
}

# stop NAME: asks it to end, insists after 10 seconds.
stop() {
  local pid i
  alive "$1" || return 0
  kill -TERM "$pid" 2>/dev/null || true
  for ((i = 0; i < 100; i++)); do
    alive "$1" || return 0
    sleep 0.1
  done
  say "$1 (pid $pid) did not end, killing it"
  kill -KILL "$pid" 2>/dev/null || true
  sleep 0.2
}

started() { ls "$DIR/pid" 2>/dev/null || true; }

# The cluster never leaves this machine: no proxy may stand between its parts.
no_proxies() { unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; }

# check_alive: fails with the end of its log when one of our processes has died.
check_alive() {
  local name pid
  for name in $(started); do
    alive "$name" && continue
    tail -n 15 "$DIR/log/$name.log" >&2 || true
    die "$name has died, see $DIR/log/$name.log; clean up with: npm run cluster -- down --dir $DIR"
  done
}

# wait_for SECONDS WHAT COMMAND...: repeats the command until it succeeds.
wait_for() {
  local end=$((SECONDS + $1)) limit=$1 what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    check_alive
    ((SECONDS < end)) || die "$what is not ready after $limit s; logs: $DIR/log; clean up with: npm run cluster -- down --dir $DIR"
    sleep 0.1
  done
}

ctr() { command ctr -a "$DIR/containerd.sock" -n k8s.io "$@"; }

# firewall_clean: removes our iptables chains and the rules that lead to them, nothing else.
# Chains that another user of CNI already had stay.
firewall_clean() {
  local ours='(KUBE|WEIRNODE|CNI)-' ipt table rules
  [[ -e $DIR/foreign-cni ]] && ours='(KUBE|WEIRNODE)-'
  for ipt in iptables ip6tables; do
    for table in mangle nat filter; do
      rules=$("$ipt-save" -t "$table" 2>/dev/null | grep -E "^:${ours}|-j ${ours}" || true)
      [[ -n $rules ]] || continue
      {
        echo "*$table"
        grep -vE "^(:|-A ${ours})" <<<"$rules" | sed 's/^-A /-D /' || true
        sed -nE "s/^:(${ours}[^ ]*) .*/-F \1/p" <<<"$rules"
        sed -nE "s/^:(${ours}[^ ]*) .*/-X \1/p" <<<"$rules"
        echo COMMIT
      } | "$ipt-restore" --noflush || say "could not clean table $table of $ipt"
    done
  done
}
