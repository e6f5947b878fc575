module github.com/countersign-dev/countersign/tools

go 1.26.0
