package policy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
)

// valued has 5,000 a day for what 200 clients ask for, which is about twice as much.
const valued = `limits:
  - {name: usd-day, currency: usd, max: "5000", window: 24h, per: organization}
rules:
  - {name: pays, allow: transfer, when: effect.to in treasury || effect.asset == usdc, limit: usd-day}
  - {name: gas, allow: fee, limit: usd-day}
`

const dai = "0x6B175474E89094C44Da98b954EedeAC495271d0F"

// payment is what one client asks for, and the price that it has in each of the two files.
type payment struct {
	token    string // empty: the coin
	amount   *big.Int
	decimals int64
	prices   [2]string
}

// hammeredFee is what the transaction of each payment pays at most, in wei.
const hammeredFee = 300_000 * 20e9

// worth returns what a payment with its fee takes by the prices of a file, in millionths.
func (p payment) worth(file int) *big.Int {
	value := func(amount *big.Int, decimals int64, price string) *big.Int {
		worth, _ := new(big.Rat).SetString(price)
		worth.Mul(worth, new(big.Rat).SetInt(amount))
		worth.Mul(worth, big.NewRat(1e6, 1))
		worth.Quo(worth, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)))
		sum := new(big.Int).Add(worth.Num(), worth.Denom())
		return sum.Sub(sum, big.NewInt(1)).Quo(sum, worth.Denom())
	}
	return new(big.Int).Add(value(p.amount, p.decimals, p.prices[file]), value(big.NewInt(hammeredFee), 18, coinPrices[file]))
}

var coinPrices = [2]string{"2000.123456789", "2917.5"}

// payments are of three assets in turn, each of about 50.
func payments(n int) (all []payment) {
	big := func(text string) *big.Int { value, _ := new(big.Int).SetString(text, 10); return value }
	for i := range n {
		all = append(all, []payment{
			{"", big("25000000000000001"), 18, coinPrices},
			{usdc, big("51000003"), 6, [2]string{"1.000001", "0.87"}},
			{dai, big("49999999999999999999"), 18, [2]string{"0.9999", "1.02"}},
		}[i%3])
	}
	return all
}

// unsigned returns a payment's transaction.
func (p payment) unsigned(t *testing.T, nonce int) string {
	t.Helper()
	to, value, data := common.HexToAddress(treasury), p.amount, []byte(nil)
	if p.token != "" {
		data = append(common.FromHex("a9059cbb"), append(common.LeftPadBytes(to[:], 32), common.LeftPadBytes(p.amount.Bytes(), 32)...)...)
		to, value = common.HexToAddress(p.token), new(big.Int)
	}
	list, err := rlp.EncodeToBytes([]any{uint64(1), uint64(nonce), uint64(1e9), uint64(20e9), uint64(300_000), to, value, data, []any{}})
	testenv.Must(t, err)
	return hex.EncodeToString(append([]byte{2}, list...))
}

// TestHammeredValue has 200 clients of two engines spend three assets while the price file of each
// engine is replaced. What was signed, at the prices that its record names, is within the limit.
func TestHammeredValue(t *testing.T) {
	shared := memory.New(0)
	opened, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
	testenv.Must(t, err)
	for name, shared := range map[string]store.Store{"memory": shared, "bolt": opened} {
		t.Run(name, func(t *testing.T) { hammerPayments(t, shared) })
	}
}

// pricedFiles returns the policy with each of the two price files, and the digests of those.
func pricedFiles(t *testing.T) (files [2]*policy.File, digests map[string]int) {
	t.Helper()
	digests = map[string]int{}
	for i := range files {
		row := `{"chain":"eip155:1","token":%q,"decimals":%d,"price":%q}`
		var rows []string
		for _, p := range payments(3) {
			if p.token == "" {
				p.token = "native"
			}
			rows = append(rows, fmt.Sprintf(row, p.token, p.decimals, p.prices[i]))
		}
		prices := strings.Replace(pricesOf(rows...), "2026-11-23T09:00:00Z", time.Now().Format(time.RFC3339), 1)
		var err error
		if files[i], err = priced(t, pricedHead+valued, prices); err != nil {
			t.Fatal(err)
		}
		digests[fmt.Sprintf("%x", sha256.Sum256([]byte(prices)))] = i
	}
	return files, digests
}

func hammerPayments(t *testing.T, shared store.Store) {
	t.Helper()
	files, digests := pricedFiles(t)
	var policies [2]*policy.Organizations
	for i := range policies {
		policies[i] = policy.NewOrganizations(map[string]*policy.File{enginetest.Organization: files[0]})
	}
	f := enginetest.New(t, func(config *countersign.Config) {
		config.Policy, config.Store, config.Now = policies[0], shared, time.Now
	})
	f.Config.Policy = policies[1]
	nodes := []*countersign.Engine{f.Engine, f.Second(t)}
	asked := payments(200)
	records := make([]*activity.Record, len(asked))
	replaced := make(chan struct{})
	var answered atomic.Int64
	var all sync.WaitGroup
	for i, p := range asked {
		body := f.APIKey.Sign(f.Body(enginetest.Request{At: time.Now(), Unsigned: p.unsigned(t, i)}))
		all.Go(func() {
			if i >= 60 {
				<-replaced // while the others are under way
			}
			record, err := nodes[i%2].Submit(t.Context(), body)
			if refused, ok := errors.AsType[*activity.Error](err); err != nil && (!ok || refused.Reason != activity.ReasonLimitExceeded) {
				t.Error(err)
			}
			records[i] = record
			switch answered.Add(1) { // one node is behind the other
			case 30:
				policies[0].Replace(enginetest.Organization, files[1])
				close(replaced)
			case 60:
				policies[1].Replace(enginetest.Organization, files[1])
			}
		})
	}
	all.Wait()
	sum, used := new(big.Int), [2]int{}
	for i, record := range records {
		if record == nil {
			continue
		}
		by, known := digests[record.Decision.PricesDigest]
		want, charges := asked[i].worth(by), record.Decision.Charges
		if !known || len(charges) != 1 || charges[0].Amount.Cmp(want) != 0 {
			t.Errorf("payment %d: %v by the prices %s, want %s", i, charges, record.Decision.PricesDigest, want)
		}
		used[by]++
		sum.Add(sum, want)
	}
	if most := big.NewInt(5000e6); sum.Cmp(most) > 0 || sum.Cmp(big.NewInt(4850e6)) < 0 || used[0] == 0 || used[1] == 0 {
		t.Errorf("%s of %s was signed, %v by the two files", sum, most, used)
	}
}
