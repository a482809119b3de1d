module my-function

go 1.22
