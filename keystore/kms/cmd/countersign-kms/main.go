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
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, backends())) }

// backends returns the key services by the scheme of their URIs.
func backends() cli.Backends {
	return cli.Backends{
		awskms.Scheme:       {Service: awskms.New()},
		vaulttransit.Scheme: {Service: vaulttransit.New()},
		gcpkms.Scheme:       {Service: gcpkms.New()},
		azurekms.Scheme:     {Service: azurekms.New(azurekms.Options{})},
	}
}
