-- What wrk sends: 1 MiB with each call.
wrk.method = "POST"
wrk.body = string.rep("x", 1048576)
