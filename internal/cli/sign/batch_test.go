package sign_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// importKeys imports n keys and returns their addresses.
func importKeys(t *testing.T, s *clitest.Session, n int) []string {
	t.Helper()
	var in bytes.Buffer
	for i := range n {
		fmt.Fprintf(&in, `{"curve":"CURVE_SECP256K1","privateKey":"%s"}`+"\n", clitest.NthSecret(i))
	}
	var addresses []string
	for line := range bytes.Lines(s.Must(in.Bytes(), "keys", "import", "--jsonl")) {
		addresses = append(addresses, ethereumAddress(t, line))
	}
	if len(addresses) != n {
		t.Fatalf("%d answers for %d keys", len(addresses), n)
	}
	return addresses
}

func ethereumAddress(t *testing.T, line []byte) string {
	t.Helper()
	var key show.KeyLine
	if err := json.Unmarshal(line, &key); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	for _, address := range key.Addresses {
		if address.Format == "ADDRESS_FORMAT_ETHEREUM" {
			return address.Address
		}
	}
	t.Fatalf("no Ethereum address: %s", line)
	return ""
}

// TestBatch signs 10,000 transactions with 1,000 keys. One line in the middle is malformed
// and answered in its place; all others are signed by the requested key. A second run gives
// the same answers.
func TestBatch(t *testing.T) {
	testenv.Slow(t)
	const keys, transactions, bad = 1000, 10_000, 5000
	s := clitest.NewSession(t)
	addresses := importKeys(t, s, keys)
	var in strings.Builder
	for i := range transactions {
		unsigned := clitest.NthTransaction(i)
		if i+1 == bad {
			unsigned = unsigned[:len(unsigned)-2]
		}
		in.WriteString(clitest.IntentLine(addresses[i%keys], unsigned))
	}
	first, talk, status := s.Run([]byte(in.String()), "sign", "--jsonl")
	if status != console.ExitFailure || !bytes.Contains(talk, []byte("1 of 10000 lines failed; the first is line 5000\n")) {
		t.Fatalf("exit status %d: %s", status, talk)
	}
	number := 0
	for line := range bytes.Lines(first) {
		if number++; number == bad {
			if !bytes.HasPrefix(line, []byte(`{"error":{"code":3,"reason":"INVALID_TRANSACTION","message":"ethereum: `)) {
				t.Errorf("line %d: %s", number, line)
			}
			continue
		}
		checkSigned(t, line, number-1, addresses[(number-1)%keys])
	}
	if number != transactions {
		t.Fatalf("%d answers", number)
	}
	second, _, _ := s.Run([]byte(in.String()), "sign", "--jsonl", "--workers", "7")
	if !bytes.Equal(first, second) {
		t.Error("the second run gave other answers")
	}
}

// checkSigned checks with go-ethereum what was signed, and by which key.
func checkSigned(t *testing.T, line []byte, number int, address string) {
	t.Helper()
	var answer struct{ SignedTransaction string }
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var tx types.Transaction
	if err := tx.UnmarshalBinary(testenv.Hex(t, answer.SignedTransaction)); err != nil {
		t.Fatalf("answer %d: %v: %s", number, err, line)
	}
	if tx.Value().Uint64() != 1<<32+uint64(number) {
		t.Fatalf("answer %d is that of another line", number)
	}
	if number%100 != 0 { // recovering them all takes longer than signing them
		return
	}
	sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx)
	if err != nil || sender != common.HexToAddress(address) {
		t.Fatalf("answer %d: signed by %v, not %s: %v", number, sender, address, err)
	}
}

// TestInterruptedBatch checks that an interrupt stops at once between two lines, even while
// the input is open.
func TestInterruptedBatch(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := clitest.NewSession(t)
		command := s.Command("sign", "--jsonl")
		var talk bytes.Buffer
		command.Stderr = &talk
		in, out := clitest.StartPiped(t, command)
		if _, err := io.WriteString(in, clitest.IntentLine(clitest.Address, clitest.NthTransaction(0))); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		if _, err := answers.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
		testenv.Must(t, command.Process.Signal(signal))
		rest, err := io.ReadAll(answers)
		if err != nil || len(rest) > 0 {
			t.Errorf("%v: %q, %v", signal, rest, err)
		}
		_ = command.Wait()
		if status := command.ProcessState.ExitCode(); status != console.ExitFailure || talk.String() != "countersign: interrupted after 1 lines\n" {
			t.Errorf("%v: exit status %d: %s", signal, status, &talk)
		}
	}
}

// TestBrokenPipe checks that the batch fails when its answers are no longer read.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	command := s.Command("sign", "--jsonl")
	var talk bytes.Buffer
	command.Stderr = &talk
	in, out := clitest.StartPiped(t, command)
	out.Close()
	for i := range 100_000 {
		if _, err := io.WriteString(in, clitest.IntentLine(clitest.Address, clitest.NthTransaction(i))); err != nil {
			break
		}
	}
	_ = command.Wait()
	if status := command.ProcessState.ExitCode(); status != console.ExitFailure || !strings.Contains(talk.String(), "broken pipe") {
		t.Errorf("exit status %d: %s", status, &talk)
	}
}

// TestKilledImport kills imports at random times. Afterwards the keystore must open, every
// acknowledged key must be there, and the same import must continue.
func TestKilledImport(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	const rounds, perRound = 15, 300
	s := clitest.NewSession(t)
	acknowledged := map[string]string{} // public key to id
	killed := 0
	for round := range rounds {
		var in bytes.Buffer
		for i := range perRound {
			fmt.Fprintf(&in, `{"curve":"CURVE_SECP256K1","privateKey":"%s"}`+"\n", clitest.NthSecret(round*perRound/2+i)) // half of them repeated from the round before
		}
		answers, wasKilled := importAndKill(t, s, in.Bytes())
		if wasKilled {
			killed++
		}
		for _, line := range bytes.SplitAfter(answers, []byte("\n")) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				continue // cut off, and so not an acknowledgement
			}
			public, id := identify(t, line)
			if known, again := acknowledged[public]; again && known != id {
				t.Fatalf("key %s was imported twice, as %s and %s", public, known, id)
			}
			acknowledged[public] = id
		}
		there := map[string]string{}
		for line := range bytes.Lines(s.Must(nil, "keys", "list")) {
			public, id := identify(t, line)
			there[public] = id
		}
		for public, id := range acknowledged {
			if there[public] != id {
				t.Fatalf("round %d: key %s was acknowledged as %s, and is not there", round, public, id)
			}
		}
	}
	if killed < rounds/3 {
		t.Errorf("only %d of %d imports were killed before they were through", killed, rounds)
	}
	t.Logf("%d of %d imports killed, %d keys acknowledged", killed, rounds, len(acknowledged))
}

// importAndKill starts an import and kills it after a random number of answers,
// while it has more lines to read.
func importAndKill(t *testing.T, s *clitest.Session, in []byte) (answers []byte, killed bool) {
	t.Helper()
	command := s.Command("keys", "import", "--jsonl")
	stdin, stdout := clitest.StartPiped(t, command)
	go func() {
		for line := range bytes.Lines(in) { // slowly, for several batches
			_, _ = stdin.Write(line)
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		}
		stdin.Close()
	}()
	last := rand.IntN(bytes.Count(in, []byte("\n")))
	reader := bufio.NewReader(stdout)
	for range last {
		line, err := reader.ReadBytes('\n')
		if answers = append(answers, line...); err != nil {
			t.Fatalf("it ended by itself: %v", err)
		}
	}
	_ = command.Process.Kill()
	rest, err := io.ReadAll(reader)
	testenv.Must(t, err)
	return append(answers, rest...), command.Wait() != nil
}

func identify(t *testing.T, line []byte) (publicKey, id string) {
	t.Helper()
	var key show.KeyLine
	if err := json.Unmarshal(line, &key); err != nil || key.PrivateKeyID == "" {
		t.Fatalf("%v: %s", err, line)
	}
	return key.PublicKey, key.PrivateKeyID
}
