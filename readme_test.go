package countersign_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// This is the code in README.md; see TestReadme. The key is public: never send anything
// to it.
func Example() {
	ctx := context.Background()
	secret, _ := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")

	keys := memory.New()
	if _, err := keys.Add(ctx, "my-organization", keystore.NewKey{
		Curve:  keystore.CurveSecp256k1,
		Secret: secret, // 32 bytes; copied
	}); err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Keystore: keys, Chains: []chains.Chain{ethereum.New(ethereum.Limits{})}})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close() // overwrites the secret
	result, err := engine.SignTransaction(ctx, "my-organization", activity.SignTransactionIntent{
		SignWith:            "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", // an address of the key, or its id
		Type:                activity.TransactionTypeEthereum,
		UnsignedTransaction: "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.SignedTransaction)
	// Output: 02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c001a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d77429fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55
}

// TestReadme compares the code in README.md with the example.
func TestReadme(t *testing.T) {
	readme := testenv.Read(t, "README.md")
	source := testenv.Read(t, "readme_test.go")
	_, rest, found := strings.Cut(string(readme), "```go\n")
	code, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("README.md has no Go code")
	}
	for line := range strings.Lines(code) {
		if indented := "\t" + line; line != "\n" && !strings.Contains(string(source), indented) {
			t.Errorf("not in the example: %s", line)
		}
	}
}
