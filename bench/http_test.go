package bench

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/enginetest"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
)

// One run of a load: enough requests for p99 to mean something.
const (
	loadRequests = 12_000
	loadRuns     = 5
	loadClients  = 64
)

// load is stamped requests, every one a body of its own.
type load struct {
	bodies  [][]byte
	headers []string
}

func newLoad(b *testing.B, key *enginetest.APIKey, count int) *load {
	b.Helper()
	made := &load{}
	now := time.Now().UnixMilli()
	for i := range count {
		body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"unsignedTransaction":%q,"type":"TRANSACTION_TYPE_ETHEREUM"}}`,
			now-int64(i), enginetest.Organization, enginetest.Address, enginetest.Unsigned)
		made.bodies = append(made.bodies, body)
		made.headers = append(made.headers, key.Header(body).Value)
	}
	return made
}

// part returns one run's share, so that no body comes twice.
func (l *load) part(run int) *load {
	from, to := run*loadRequests, (run+1)*loadRequests
	return &load{l.bodies[from:to], l.headers[from:to]}
}

// outcome is what one run measured.
type outcome struct{ perSecond, p50, p99 float64 }

// fire sends all requests over connections that are kept alive.
func (l *load) fire(b *testing.B, url string) outcome {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: loadClients, MaxIdleConns: loadClients,
		DialContext: (&net.Dialer{}).DialContext, DisableCompression: true,
	}}
	defer client.CloseIdleConnections()
	latencies := make([]time.Duration, len(l.bodies))
	var next atomic.Int64
	var group sync.WaitGroup
	started := time.Now()
	for range loadClients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.bodies); i = int(next.Add(1)) - 1 {
				before := time.Now()
				if err := send(client, url, l.bodies[i], l.headers[i]); err != nil {
					b.Error(err)
					return
				}
				latencies[i] = time.Since(before)
			}
		})
	}
	group.Wait()
	took := time.Since(started)
	slices.Sort(latencies)
	at := func(share float64) float64 {
		return float64(latencies[int(share*float64(len(latencies)-1))].Microseconds()) / 1000
	}
	return outcome{float64(len(l.bodies)) / took.Seconds(), at(.5), at(.99)}
}

func send(client *http.Client, url string, body []byte, header string) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Stamp", header)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", response.Status)
	}
	return nil
}

// served is an engine over HTTP, without verify-after-sign as the bare handler
// has none.
func served(b *testing.B, kept store.Store, key *enginetest.APIKey) *httptest.Server {
	b.Helper()
	directory, err := countersign.NewDirectory([]countersign.OrganizationConfig{{ID: enginetest.Organization, Users: []countersign.UserConfig{
		{Name: "bench", APIKeys: []countersign.APIKeyConfig{key.Config()}},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	secret, err := hex.DecodeString(enginetest.Secret)
	if err != nil {
		b.Fatal(err)
	}
	signing := keys.New()
	if _, err := signing.Add(enginetest.Organization, keys.Key{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		b.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{
		Keystore: signing, Directory: directory, Store: kept, ReleaseUnverifiedSignatures: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(httpapi.New(engine, httpapi.Options{}))
	server.Start()
	b.Cleanup(func() {
		server.Close()
		if err := engine.Close(); err != nil {
			b.Error(err)
		}
	})
	return server
}

// bare is the least that a server could do: verify a stamp, sign a hash.
func bare(b *testing.B, key *enginetest.APIKey) *httptest.Server {
	b.Helper()
	secret, err := crypto.HexToECDSA(enginetest.Secret)
	if err != nil {
		b.Fatal(err)
	}
	compressed, err := hex.DecodeString(key.PublicKey)
	if err != nil {
		b.Fatal(err)
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), compressed)
	pub := &ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "body", http.StatusBadRequest)
			return
		}
		if !bareStamp(pub, r.Header.Get("X-Stamp"), body) {
			http.Error(w, "stamp", http.StatusUnauthorized)
			return
		}
		var asked struct {
			Parameters activity.SignTransactionIntent
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			http.Error(w, "JSON", http.StatusBadRequest)
			return
		}
		signature, err := crypto.Sign(crypto.Keccak256([]byte(asked.Parameters.UnsignedTransaction)), secret)
		if err != nil {
			http.Error(w, "signature", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"signature":"%x"}`, signature)
	}))
	b.Cleanup(server.Close)
	return server
}

func bareStamp(pub *ecdsa.PublicKey, header string, body []byte) bool {
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return false
	}
	var sent struct{ PublicKey, Scheme, Signature string }
	if json.Unmarshal(text, &sent) != nil || sent.Scheme != string(stamp.SchemeP256) {
		return false
	}
	signature, err := hex.DecodeString(sent.Signature)
	digest := sha256.Sum256(body)
	return err == nil && ecdsa.VerifyASN1(pub, digest[:], signature)
}

// BenchmarkHTTP is requests over loopback, server and clients on the same
// machine: ours with a store in memory and a bare handler in turn, then ours
// with a file. Medians; the ratio is ours to the bare one's, in requests per
// second.
func BenchmarkHTTP(b *testing.B) {
	key := enginetest.NewAPIKey(b)
	all := newLoad(b, key, loadRuns*loadRequests)
	bareURL := bare(b, key).URL
	b.Run("memory", func(b *testing.B) {
		ours := served(b, memory.New(0), key).URL + "/public/v1/submit/sign_transaction"
		var mine, theirs []outcome
		for run := range loadRuns {
			mine = append(mine, all.part(run).fire(b, ours))
			theirs = append(theirs, all.part(run).fire(b, bareURL))
		}
		report(b, mine, theirs)
	})
	b.Run("bolt", func(b *testing.B) {
		kept, err := bolt.Open(filepath.Join(b.TempDir(), "state.db"))
		if err != nil {
			b.Fatal(err)
		}
		ours := served(b, kept, key).URL + "/public/v1/submit/sign_transaction"
		report(b, []outcome{all.part(0).fire(b, ours)}, nil)
		written := kept.Stats()
		b.ReportMetric(float64(written.Completed)/float64(written.Commits), "activities/fsync")
	})
}

func report(b *testing.B, mine, theirs []outcome) {
	b.ReportMetric(0, "ns/op")
	ours := middle(mine, func(o outcome) float64 { return o.perSecond })
	b.ReportMetric(ours, "req/s")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.p50 }), "p50-ms")
	b.ReportMetric(middle(mine, func(o outcome) float64 { return o.p99 }), "p99-ms")
	if theirs != nil {
		bare := middle(theirs, func(o outcome) float64 { return o.perSecond })
		b.ReportMetric(bare, "bare-req/s")
		b.ReportMetric(ours/bare, "ratio")
	}
}

func middle(outcomes []outcome, of func(outcome) float64) float64 {
	var values []float64
	for _, one := range outcomes {
		values = append(values, of(one))
	}
	return measure.Median(values)
}
