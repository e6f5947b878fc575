package policy_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// dynamicFee returns an unsigned EIP-1559 transaction in hex.
func dynamicFee(t *testing.T, nonce uint64, to []byte, value *big.Int, data []byte) string {
	t.Helper()
	encoded, err := rlp.EncodeToBytes([]any{
		big.NewInt(1), nonce, big.NewInt(1e9), big.NewInt(2e9), uint64(100_000), to, value, data, []any{},
	})
	testenv.Must(t, err)
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

// keyOf reads a line that a command printed about a key, and decodes its address on Ethereum.
func keyOf(t *testing.T, line []byte) (show.KeyLine, []byte) {
	t.Helper()
	var key show.KeyLine
	testenv.JSON(t, line, &key)
	for _, one := range key.Addresses {
		if raw, ok := strings.CutPrefix(one.Address, "0x"); ok {
			decoded := testenv.Hex(t, raw)
			return key, decoded
		}
	}
	t.Fatalf("no address in %s", line)
	return key, nil
}

// explainAndSign has each transaction explained and signed, and returns how many were.
func explainAndSign(t *testing.T, s *clitest.Served, hot show.KeyLine, transactions []string) (allowed int) {
	t.Helper()
	for i, transaction := range transactions {
		explained, stderr, status := clitest.MainWith(transaction, "policy", "explain", "--config", s.Config(), "--as", "admin", "--key", "hot", "--type", "ethereum", "--json")
		var said struct{ Decision, Refusal string }
		if status != console.ExitSuccess || json.Unmarshal([]byte(explained), &said) != nil {
			if strings.Contains(stderr, "INVALID") {
				continue // nothing that can be signed
			}
			t.Fatalf("transaction %d: explain: exit status %d: %s%s", i, status, explained, stderr)
		}
		signed, stderr, status := clitest.MainWith(transaction, "sign", "--config", s.Config(), "--as", "admin", "--sign-with", hot.PrivateKeyID, "--type", "ethereum", "--yes")
		if did := status == console.ExitSuccess; did != (said.Decision == "allow") {
			t.Errorf("transaction %d: explain says %s (%s), and sign: exit status %d: %s%s", i, said.Decision, said.Refusal, status, signed, stderr)
		} else if did {
			allowed++
		}
	}
	return allowed
}

// drawnPolicy returns a policy of random rules about transfers, permissions, fees and calls.
func drawnPolicy(random *rand.Rand, payee, token []byte) string {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	var text strings.Builder
	fmt.Fprintf(&text, "schema: countersign.policy/2\nlists:\n  payees: [\"0x%x\"]\nassets:\n  coin: {chain: \"eip155:1\", token: \"0x%x\", decimals: 6}\n", payee, token)
	text.WriteString("rules:\n")
	fmt.Fprintf(&text, "  - {name: gas, allow: fee, when: \"effect.amount <= ether('%s')\"}\n", one("1", "1", "0.00001"))
	fmt.Fprintf(&text, "  - {name: known, allow: transfer, when: \"effect.to in payees || effect.asset == coin\"}\n")
	for i := range 1 + random.IntN(5) {
		kind := one("transfer", "transfer", "transfer", "approve", "[transfer, approve]", "revoke", "call")
		conditions := []string{"true"}
		if !strings.Contains(kind, "call") {
			conditions = []string{"effect.to in payees", "effect.amount <= ether('1')", "effect.amount <= amount(coin, '3')", "effect.asset == coin", "effect.mine", "!effect.mine", "effect.amount == ether('0.5')", "effect.amount > ether('0')"}
		}
		fmt.Fprintf(&text, "  - {name: rule-%d, %s: %s", i, one("allow", "allow", "allow", "deny"), kind)
		if random.IntN(2) == 0 {
			fmt.Fprintf(&text, ", key: %s", one("hot", "cold"))
		}
		if random.IntN(3) == 0 {
			fmt.Fprintf(&text, ", who: {user: %s}", one("admin", "admin", "other"))
		}
		fmt.Fprintf(&text, ", when: \"%s%s\"}\n", one(conditions...), one("", " && "+one(conditions...), " || "+one(conditions...)))
	}
	return text.String()
}

// TestExplainIsSign: what policy explain says about a transaction and a key, sign --config does, under
// policies of random rules, over random transfers, payments to oneself and within the organization,
// tokens, permissions and calls.
func TestExplainIsSign(t *testing.T) {
	t.Parallel()
	policies, each := 24, 12
	if testing.Short() {
		policies = 4
	}
	s := clitest.NewServed(t)
	hot, self := keyOf(t, s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "secp256k1", "--name", "hot"))
	_, second := keyOf(t, s.Run(t, "keys", "generate", "--config", s.Config(), "--curve", "secp256k1", "--name", "cold"))
	s.Edit(t, "name: Example", "name: Example\n    policy: policy.yaml")
	s.Edit(t, "    users:\n", "    users:\n"+string(s.Run(t, "apikey", "new", "--name", "other", "--org", s.By.OrganizationID, "--out", filepath.Join(s.Dir, "other.json"), "--expires", "90d")))
	payee, token, unknown := make([]byte, 20), make([]byte, 20), make([]byte, 20)
	payee[0], payee[19], token[0], token[19], unknown[0], unknown[19] = 0xaa, 1, 0xbb, 2, 0xcc, 3
	allowed := 0
	for seed := range uint64(policies) {
		random := rand.New(rand.NewPCG(seed, 43))
		text := drawnPolicy(random, payee, token)
		clitest.WritePrivate(t, filepath.Join(s.Dir, "policy.yaml"), text)
		address := func() []byte { return [][]byte{self, second, payee, payee, payee, token, unknown}[random.IntN(7)] }
		tenths := func() *big.Int {
			return new(big.Int).Mul(big.NewInt([]int64{0, 1, 5, 10, 15}[random.IntN(5)]), big.NewInt(1e17))
		}
		units := func() *big.Int { return big.NewInt([]int64{0, 1e6, 3e6, 9e6}[random.IntN(4)]) }
		var transactions []string
		for i := range uint64(each) {
			nonce := seed*uint64(each) + i // a transaction that was signed is answered from its record
			to, value, data := address(), tenths(), []byte(nil)
			switch random.IntN(6) {
			case 0, 1:
				to, value, data = token, new(big.Int), callOf("a9059cbb", address(), units()) // transfer
			case 2:
				to, value, data = token, new(big.Int), callOf("095ea7b3", address(), units()) // approve
			case 3:
				data = []byte{1, 2, 3, 4, byte(nonce)}
			}
			transactions = append(transactions, dynamicFee(t, nonce, to, value, data))
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if allowed += explainAndSign(t, s, hot, transactions); t.Failed() {
				t.Logf("the policy is\n%s", text)
			}
		})
	}
	_, stderr, status := clitest.MainWith(dynamicFee(t, 0, payee, new(big.Int), nil), "policy", "explain", "--config", s.Config(), "--as", "admin",
		"--key", "hot", "--type", "ethereum", "--index", "1")
	if status != console.ExitUsage || !strings.Contains(stderr, "--index goes with a list") {
		t.Errorf("an index without a list: exit status %d: %s", status, stderr)
	}
	if allowed < policies/2 || allowed > policies*each-policies {
		t.Errorf("%d of %d were allowed", allowed, policies*each)
	}
	t.Logf("%d of %d were allowed", allowed, policies*each)
}
