module weir-bench-go-proxy

go 1.21
