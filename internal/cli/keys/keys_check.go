package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
)

// checkMessage is what each key signs: no transaction and no message of any chain. Its first
// byte, 0xff, is no count of signatures of a Solana transaction, and what follows is not
// "solana offchain", the prefix of Solana's messages. On secp256k1 its SHA-256 is signed, which
// is no Keccak hash of anything known.
const checkMessage = "\xffcountersign keys check: this is neither a transaction nor a message"

func newCheckCommand(at *deployment.KeystoreFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "check [ID]…",
		Short: "Have keys sign a fixed message, to see that they can",
		Long: console.Paragraphs(`
Have each key of an organization sign a fixed message, or those with an ID, and print one
line of JSON for each:

  {"privateKeyId":"…","name":"…","uri":"…","ok":true,"milliseconds":23}

The uri is that of a key in a key service. A key that cannot sign has "error": what is
missing, such as the right kms:Sign, in the service's own words. The message begins with
0xff and says what it is: its signature is of no use to anyone.

The exit status is 1 if any key could not sign.`),
		Example: "  countersign keys check --config countersign.yaml",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return checkKeys(cmd, at, args) },
	}
}

type checkLine struct {
	PrivateKeyID string `json:"privateKeyId"`
	Name         string `json:"name"`
	URI          string `json:"uri,omitempty"`
	OK           bool   `json:"ok"`
	Milliseconds int64  `json:"milliseconds"` // of the whole call
	Error        string `json:"error,omitempty"`
}

func checkKeys(cmd *cobra.Command, flags *deployment.KeystoreFlags, ids []string) (err error) {
	keys, err := flags.Open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	names := map[keystore.Locator]keystore.KeyInfo{}
	for info, err := range keys.Keys(cmd.Context(), flags.Organization) {
		if err != nil {
			return err
		}
		names[keystore.ByID(info.ID)] = info
		if cmd.Flags().NArg() == 0 {
			ids = append(ids, info.ID)
		}
	}
	uris := map[keystore.PublicKey]string{}
	for _, pin := range deployment.PinsOf(cmd.Context(), keys) {
		uris[pin.PublicKey] = pin.URI
	}
	failed := 0
	for _, id := range ids {
		line := checkLine{PrivateKeyID: id, Name: names[keystore.ByID(id)].Name, URI: uris[names[keystore.ByID(id)].PublicKey]}
		start := time.Now()
		err := checkKey(cmd.Context(), keys, flags.Organization, id)
		line.OK, line.Milliseconds = err == nil, time.Since(start).Milliseconds()
		if err != nil {
			failed++
			line.Error = console.CleanText(err.Error())
		}
		if err := console.PrintJSON(cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	deployment.TellSkipped(cmd, keys)
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d keys could not sign", failed, len(ids))
	case len(ids) == 0:
		return fmt.Errorf("organization %q owns no keys here: --org names another", flags.Organization)
	}
	return nil
}

// checkKey has a key sign the message, and verifies the signature.
func checkKey(ctx context.Context, keys keystore.Keystore, organizationID, id string) error {
	key, err := keys.Find(ctx, organizationID, keystore.ByID(id))
	if err != nil {
		return err
	}
	switch signer := keystore.Verified(key).(type) {
	case keystore.ECDSASigner:
		_, err = signer.SignECDSA(ctx, sha256.Sum256([]byte(checkMessage)))
	case keystore.Ed25519Signer:
		_, err = signer.SignEd25519(ctx, []byte(checkMessage))
	default:
		err = errors.New("the key makes no signatures")
	}
	return err
}
