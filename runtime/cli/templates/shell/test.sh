#!/bin/sh
set -eu
cd "$(dirname "$0")"

expect() {
  [ "$1" = "$2" ] && return
  echo "expected \"$1\", got \"$2\"" >&2
  exit 1
}

expect "Hello, hi!" "$(printf hi | sh function.sh 2>/dev/null)"
expect "Hello, world!" "$(sh function.sh </dev/null 2>/dev/null)"
echo "2 tests passed"
