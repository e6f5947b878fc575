// Command countersign-kms is the command countersign with keys in key services. docs/kms.md is
// its manual.
package main

import (
	"os"

	"github.com/countersign-dev/countersign/internal/cli"
	"github.com/countersign-dev/countersign/keystore/kms/awskms"
	"github.com/countersign-dev/countersign/keystore/kms/azurekms"
	"github.com/countersign-dev/countersign/keystore/kms/gcpkms"
	"github.com/countersign-dev/countersign/keystore/kms/vaulttransit"
	"github.com/countersign-dev/countersign/keystore/remote"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, services())) }

// services returns the key services by the scheme of their URIs.
func services() remote.Services {
	return remote.Services{
		awskms.Scheme:       awskms.New(),
		vaulttransit.Scheme: vaulttransit.New(),
		gcpkms.Scheme:       gcpkms.New(),
		azurekms.Scheme:     azurekms.New(azurekms.Options{}),
	}
}
