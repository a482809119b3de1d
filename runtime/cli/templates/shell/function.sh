#!/bin/sh
# One process for each call: the body is standard input, the reply is standard output, the log is standard error.
# The request is in Http_Method, Http_Path, Http_Query, and a variable for each header. A failure is status 500.
set -eu

body=$(cat)
printf 'Hello, %s!\n' "${body:-world}"
echo "${Http_X_Call_Id:--} ${Http_Method:--} ${Http_Path:--}" >&2
