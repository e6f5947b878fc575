package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

// dynamicFee returns an unsigned EIP-1559 transaction in hex.
func dynamicFee(t *testing.T, nonce uint64, to []byte, value *big.Int, data []byte) string {
	t.Helper()
	encoded, err := rlp.EncodeToBytes([]any{
		big.NewInt(1), nonce, big.NewInt(1e9), big.NewInt(2e9), uint64(100_000), to, value, data, []any{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return "02" + hex.EncodeToString(encoded)
}

// callOf returns the calldata of a function with two words.
func callOf(selector string, address []byte, amount *big.Int) []byte {
	call, err := hex.DecodeString(selector)
	if err != nil {
		panic(err)
	}
	call = append(call, make([]byte, 12)...)
	call = append(call, address...)
	return append(call, amount.FillBytes(make([]byte, 32))...)
}

// TestExplainIsSign: what policy explain says about a transaction and a key, sign --config
// does, over transfers, payments to oneself and within the organization, tokens, permissions
// and calls.
func TestExplainIsSign(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	address := func(line []byte) (show.KeyLine, []byte) {
		var key show.KeyLine
		if err := json.Unmarshal(line, &key); err != nil {
			t.Fatal(err)
		}
		for _, one := range key.Addresses {
			if raw, ok := strings.CutPrefix(one.Address, "0x"); ok {
				decoded, err := hex.DecodeString(raw)
				if err != nil {
					t.Fatal(err)
				}
				return key, decoded
			}
		}
		t.Fatalf("no address in %s", line)
		return key, nil
	}
	hot, self := address(s.run(t, "keys", "generate", "--config", s.config(), "--curve", "secp256k1", "--name", "hot"))
	_, second := address(s.run(t, "keys", "generate", "--config", s.config(), "--curve", "secp256k1", "--name", "cold"))
	stranger, token := make([]byte, 20), make([]byte, 20)
	stranger[0], stranger[19], token[0], token[19] = 0xaa, 1, 0xbb, 2
	writePrivate(t, filepath.Join(s.dir, "policy.yaml"), fmt.Sprintf(`schema: countersign.policy/1
lists:
  payees: ["0x%x"]
assets:
  coin: {chain: "eip155:1", token: "0x%x", decimals: 6}
rules:
  - {name: gas, allow: fee, when: "effect.amount <= ether('1')"}
  - {name: payouts, allow: transfer, key: hot, when: "effect.to in payees && effect.amount <= ether('2')"}
  - {name: coins, allow: transfer, key: hot, when: "effect.asset == coin && effect.to in payees && effect.amount <= amount(coin, '5')"}
  - {name: own, allow: transfer, when: "effect.mine && effect.amount <= ether('1')"}
  - {name: approves, allow: approve, when: "effect.asset == coin && effect.to in payees && effect.amount <= amount(coin, '1')"}
  - {name: never, deny: transfer, when: "effect.amount == ether('0.5')"}
`, stranger, token))
	s.edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	ether := func(tenths int64) *big.Int { return new(big.Int).Mul(big.NewInt(tenths), big.NewInt(1e17)) }
	var transactions []string
	nonce := uint64(0)
	add := func(to []byte, value *big.Int, data []byte) {
		transactions = append(transactions, dynamicFee(t, nonce, to, value, data))
		nonce++
	}
	for _, to := range [][]byte{self, second, stranger, token} {
		for _, tenths := range []int64{0, 1, 5, 15, 30} {
			add(to, ether(tenths), nil)
		}
		for _, units := range []int64{0, 1_000_000, 9_000_000} {
			add(token, new(big.Int), callOf("a9059cbb", to, big.NewInt(units))) // transfer(address,uint256)
			add(token, new(big.Int), callOf("095ea7b3", to, big.NewInt(units))) // approve(address,uint256)
		}
		add(to, ether(1), []byte{1, 2, 3, 4})
	}
	allowed := 0
	for i, transaction := range transactions {
		explained, stderr, status := mainWith(transaction, "policy", "explain", "--config", s.config(), "--as", "admin", "--key", "hot", "--type", "ethereum", "--json")
		var said struct{ Decision, Refusal string }
		if status != console.ExitSuccess || json.Unmarshal([]byte(explained), &said) != nil {
			if strings.Contains(stderr, "INVALID") {
				continue // nothing that can be signed
			}
			t.Fatalf("transaction %d: explain: exit status %d: %s%s", i, status, explained, stderr)
		}
		signed, stderr, status := mainWith(transaction, "sign", "--config", s.config(), "--as", "admin", "--sign-with", hot.PrivateKeyID, "--type", "ethereum", "--yes")
		if did := status == console.ExitSuccess; did != (said.Decision == "allow") {
			t.Errorf("transaction %d: explain says %s (%s), and sign: exit status %d: %s%s", i, said.Decision, said.Refusal, status, signed, stderr)
		} else if did {
			allowed++
		}
	}
	if allowed < 8 || allowed > len(transactions)-8 || len(transactions) < 40 {
		t.Errorf("%d of %d were allowed", allowed, len(transactions))
	}
}

// mainWith runs the command with a text on standard input.
func mainWith(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, talk strings.Builder
	status = Main(args, strings.NewReader(stdin), &out, &talk, nil)
	return out.String(), talk.String(), status
}
