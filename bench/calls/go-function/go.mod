module weir-bench-go-function

go 1.21
