#!/bin/sh
# Checks a copy that runs, by default this one:
#   docker build -t my-function . && docker run --rm -p 8080:8080 my-function
set -eu
address=${1:-http://127.0.0.1:8080}

expect() {
  reply=$(curl -sS --fail "$address$1")
  [ "$reply" = "$2" ] && return
  echo "$1: expected \"$2\", got \"$reply\"" >&2
  exit 1
}

expect /_/ready OK
expect /_/health OK
expect / "Hello, world!"
echo "3 tests passed"
