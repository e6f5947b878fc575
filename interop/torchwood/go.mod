module github.com/countersign-dev/countersign/interop/torchwood

go 1.26.0

require (
	filippo.io/torchwood v0.9.0
	github.com/countersign-dev/countersign v0.0.0
	golang.org/x/mod v0.42.0
)

require (
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace github.com/countersign-dev/countersign => ../..
