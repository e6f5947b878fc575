package chaintest_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/keystore"
)

// transfer is a type-2 transaction that sends 0.1 ETH.
const transfer = "02f001078459682f008502540be4008252089408d2b0a37f869ff76bacb5bab3278e26ab7067b788016345785d8a000080c0"

func samples(t *testing.T) map[string]chaintest.Sample {
	return map[string]chaintest.Sample{"transfer": {
		Raw: chaintest.Unhex(t, transfer),
		Key: chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{1}, keystore.SecretSize)),
	}}
}

func TestCorrectChain(t *testing.T) { chaintest.Run(t, ethereum.Chain{}, samples(t)) }
