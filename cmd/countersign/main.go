// Command countersign signs transactions with keys that it keeps encrypted on this
// machine. Package internal/cli has its commands, and says how it behaves.
package main

import (
	"os"

	"github.com/countersign-dev/countersign/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil)) }
