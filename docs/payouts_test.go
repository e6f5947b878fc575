package docs_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const (
	vault    = "0x1234567890AbcdEF1234567890aBcdef12345678"
	vaultABI = `{"chain":"eip155:1","address":"` + vault + `","name":"Vault","abi":[{"type":"function","name":"harvest","inputs":[{"name":"round","type":"uint256"}]}]}`
	payRules = `schema: countersign.policy/2
assets:
  main: {chain: "eip155:1", token: native}
limits:
  - {name: gas-day, asset: main, max: "0.1", window: 24h, per: user}
rules:
  - {name: payouts, allow: transfer, who: {tag: agent}, approvals: [{count: 1, tag: finance}]}
  - {name: gas, allow: fee, who: {tag: agent}, limit: gas-day}
  - {name: harvest, allow: call, who: {tag: agent}, when: "has(effect.reading) && effect.reading.complete && effect.reading.function == 'harvest(uint256)'"}
`
)

// payoutService is the service of embedding.md in a folder, with the keys of its users.
type payoutService struct {
	folder, address, admin string
	bot, ann               *enginetest.APIKey
	env                    []string
	keyID                  string
}

// TestPayouts runs the service over both of its stores: a transfer waits for ann, a call that
// the ABI reads is signed, another one is not, and a repeated request gets the recorded answer.
func TestPayouts(t *testing.T) {
	testenv.Slow(t)
	program := filepath.Join(t.TempDir(), "payouts")
	build(t, program, "./payouts")
	t.Run("file", func(t *testing.T) { newPayouts(t, "").run(t, program) })
	t.Run("PostgreSQL", func(t *testing.T) { newPayouts(t, testenv.Postgres(t).DSN).run(t, program) })
}

// newPayouts fills the folder of a service.
func newPayouts(t *testing.T, database string) *payoutService {
	t.Helper()
	s := &payoutService{
		folder: t.TempDir(), address: testenv.FreeAddress(t), admin: testenv.FreeAddress(t),
		bot: enginetest.NewAPIKey(t), ann: enginetest.NewAPIKey(t),
	}
	s.env = append(os.Environ(), "PASSPHRASE=correct horse", "DATABASE_URL="+database,
		"LISTEN="+s.address, "ADMIN="+s.admin, "bot="+s.bot.PublicKey, "ann="+s.ann.PublicKey)
	keys, err := file.Create(filepath.Join(s.folder, "keys"), []byte("correct horse"), file.Options{WorkFactor: 1})
	testenv.Must(t, err)
	key, err := keys.Generate(t.Context(), "payouts", "hot", keystore.CurveSecp256k1)
	testenv.Must(t, err)
	s.keyID = key.ID
	testenv.Must(t, keys.Close())
	testenv.Must(t, os.Mkdir(filepath.Join(s.folder, "descriptors"), 0o700))
	s.write(t, "descriptors/vault.json", []byte(vaultABI))
	s.write(t, "policy.yaml", []byte(payRules))
	described, err := descriptors.Open(os.DirFS(filepath.Join(s.folder, "descriptors")), descriptors.Options{})
	testenv.Must(t, err)
	pins := &descriptors.Pins{}
	for _, file := range described.Files() {
		pins.Add(file)
	}
	s.write(t, "pins", pins.Encode())
	return s
}

func (s *payoutService) write(t *testing.T, name string, content []byte) {
	t.Helper()
	testenv.Write(t, filepath.Join(s.folder, name), content)
}

// run has a transfer and calls signed, and asks again after a restart.
func (s *payoutService) run(t *testing.T, program string) {
	bot, ann := s.client(t, s.bot), s.client(t, s.ann)
	transfer, err := bot.NewRequest(s.intent(t, nil))
	testenv.Must(t, err)
	var signed string
	s.during(t, program, func(ctx context.Context) {
		submitted, err := bot.Submit(ctx, transfer)
		if err != nil || submitted.Status != activity.StatusConsensusNeeded {
			t.Fatalf("%+v, %v", submitted, err)
		}
		waiting, err := ann.GetActivity(ctx, submitted.ID)
		testenv.Must(t, err)
		if _, err := ann.Vote(ctx, waiting, activity.SelectionApproved); err != nil {
			t.Fatal(err)
		}
		done, err := bot.Wait(ctx, submitted)
		testenv.Must(t, err)
		signed = done.Result.SignTransaction.SignedTransaction
		for name, wanted := range map[string]bool{"harvest(uint256)": true, "burn(uint256)": false} {
			call, err := bot.NewRequest(s.intent(t, append(crypto.Keccak256([]byte(name))[:4], make([]byte, 32)...)))
			testenv.Must(t, err)
			if record, err := bot.Submit(ctx, call); (err == nil && record.Status == activity.StatusCompleted) != wanted {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, outcome := range []string{"waiting", "completed", "REQUEST_NOT_AUTHORIZED"} {
			if line := `countersign_requests_total{operation="sign_transaction",outcome="` + outcome + `"} 1`; !strings.Contains(s.get(t, "/metrics"), line) {
				t.Errorf("/metrics lacks %s", line)
			}
		}
	})
	s.during(t, program, func(ctx context.Context) {
		again, err := bot.Submit(ctx, transfer)
		if err != nil || signed == "" || again.Result.SignTransaction.SignedTransaction != signed {
			t.Errorf("after a restart: %+v, %v, was %s", again, err, signed)
		}
	})
}

// intent is to sign a transaction to the vault: a transfer, or a call with data.
func (s *payoutService) intent(t *testing.T, data []byte) activity.SignTransactionIntent {
	t.Helper()
	address, gwei := common.HexToAddress(vault), common.Big1
	tx := types.DynamicFeeTx{ChainID: common.Big1, Gas: 90_000, GasFeeCap: gwei, GasTipCap: gwei, To: &address, Data: data}
	if data == nil {
		tx.Value = common.Big1
	}
	raw, err := types.NewTx(&tx).MarshalBinary()
	testenv.Must(t, err)
	return activity.SignTransactionIntent{SignWith: s.keyID, Type: activity.TransactionTypeEthereum, UnsignedTransaction: hex.EncodeToString(raw)}
}

func (s *payoutService) client(t *testing.T, key *enginetest.APIKey) *client.Client {
	t.Helper()
	parsed, err := client.ParseKey([]byte(`{"organizationId":"payouts","publicKey":"` + key.PublicKey + `","privateKey":"` + key.PrivateKey() + `","curve":"API_KEY_CURVE_P256"}`))
	testenv.Must(t, err)
	c, err := client.New(client.Config{URL: "http://" + s.address, Key: parsed})
	testenv.Must(t, err)
	return c
}

// during runs the program while do runs, and ends it as a supervisor does.
func (s *payoutService) during(t *testing.T, program string, do func(ctx context.Context)) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program)
	command.Dir, command.Env = s.folder, s.env
	var log bytes.Buffer
	command.Stderr = &log
	testenv.Must(t, command.Start())
	testenv.Await(t, "the service is ready", func() bool { return s.get(t, "/readyz") != "" })
	do(t.Context())
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil || !strings.Contains(log.String(), `stopped serve="http: Server closed" shutdown=<nil> close=<nil>`) {
		t.Errorf("%v: %s", err, log.String())
	}
}

// get returns the answer of the admin address, or nothing if there is none or it is an error.
func (s *payoutService) get(t *testing.T, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.admin+path, nil)
	testenv.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}
