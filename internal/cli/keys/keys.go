// Package keys is the command keys: it creates, imports, derives, shows, exports and removes keys.
package keys

import (
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
)

// NewCommand returns the command keys.
func NewCommand() *cobra.Command {
	var at deployment.KeystoreFlags
	group := console.Group("keys", "Create, import, export, change and list keys", `
Create, import, export, change and list the keys of a keystore.

Each key is printed as one line of JSON, with all its addresses:

  {"privateKeyId":"…","name":"…","curve":"CURVE_SECP256K1","publicKey":"…",
   "addresses":[{"format":"ADDRESS_FORMAT_ETHEREUM","address":"0x…"}]}

The keys of a wallet also have "walletId" and "path", a disabled key has "disabled",
and a Tempo access key has "actsFor". Keys in an HSM and in key services have no taproot
address: they make no BIP-340 signature.`,
		newGenerateCommand(&at), newImportCommand(&at), newDeriveCommand(&at), newExportCommand(&at),
		newListCommand(&at),
		newShowCommand(&at), newAddCommand(&at), newCheckCommand(&at),
		newRenameCommand(&at), newDisableCommand(&at), newEnableCommand(&at), newActForCommand(&at),
		newDeleteCommand(&at),
		newRestoreCommand(&at), newBackupCommand(&at), console.Group("passphrase", "Change the passphrase of a keystore",
			"Change the passphrase of a keystore in a directory.\n", newPassphraseChangeCommand(&at)))
	at.RegisterAll(group)
	return group
}
