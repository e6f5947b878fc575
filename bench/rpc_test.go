package bench

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store/memory"
)

// Stores of JSON-RPC servers, and the token of their caller.
const (
	serveRPC     = "rpc"      // ours
	serveRPCBare = "rpc-bare" // the bare handler
	rpcToken     = "0123456789abcdef0123456789abcdef"
)

// BenchmarkRPC sends eth_signTransaction over loopback to a server in its own process: ours
// over a store in memory, and a bare handler that does nothing but read the object and sign
// with go-ethereum. Each transaction has a nonce of its own, since a repeated one is answered
// from its record. The ratio is our requests per second divided by the bare handler's.
func BenchmarkRPC(b *testing.B) {
	for _, clients := range []int{1, storeClients} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			runs, size := measure.Repeats(httpRuns), loadSize(3000)
			key := enginetest.NewAPIKey(b)
			requests := newRPCLoad(runs * size)
			ours := arm{"", spec{Store: serveRPC, PublicKey: key.PublicKey}, requests}
			compareArms(b, clients, runs, size, ours, arm{"bare", spec{Store: serveRPCBare}, requests})
		})
	}
}

// newRPCLoad returns requests for transactions with different nonces.
func newRPCLoad(count int) *load {
	l := &load{}
	for i := range count {
		l.bodies = append(l.bodies, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"eth_signTransaction","params":[{"from":%q,"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7",`+
			`"gas":"0x5208","maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x3b9aca00","value":"0x7b","nonce":"0x%x","chainId":"0x1"}]}`, i, enginetest.Address, i))
		l.headers = append(l.headers, "")
	}
	return l
}

// TestRPCServers: both servers sign the same transaction, with the same signature.
func TestRPCServers(t *testing.T) {
	ours, err := newRPC(enginetest.NewAPIKey(t).PublicKey)
	testenv.Must(t, err)
	bare, err := newRPCBare()
	testenv.Must(t, err)
	request := newRPCLoad(1).bodies[0]
	if one, other := answerOf(t, ours, request), answerOf(t, bare, request); one != other || len(one) < 200 {
		t.Errorf("%s and %s", one, other)
	}
}

// newRPC returns our handler, over a store in memory.
func newRPC(publicKey string) (http.Handler, error) {
	var config countersign.Config
	key := access.APIKeyConfig{Curve: stamp.CurveP256, PublicKey: publicKey}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Users: []access.UserConfig{
		{ID: "user-1", Name: "bench", APIKeys: []access.APIKeyConfig{key}},
	}}})
	if err != nil {
		return nil, err
	}
	engine, err := submitEngineWith(key, memory.New(0), func(c *countersign.Config) { c.Directory, config = directory, *c })
	if err != nil {
		return nil, err
	}
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: rpcToken}}, nil)
	if err != nil {
		return nil, err
	}
	return rpcapi.New(engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: directory.(access.Users), Keystore: config.Keystore, Host: func(string) bool { return true },
	}), nil
}

// newRPCBare returns a handler that does the least a signer could: read the object as
// go-ethereum does, and sign.
func newRPCBare() (http.Handler, error) {
	secret, err := crypto.HexToECDSA(enginetest.Secret)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != rpcToken {
			http.Error(w, "token", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		var request struct {
			ID     json.RawMessage
			Params []apitypes.SendTxArgs
		}
		if err != nil || json.Unmarshal(body, &request) != nil || len(request.Params) != 1 {
			http.Error(w, "JSON", http.StatusBadRequest)
			return
		}
		raw, err := signArgs(&request.Params[0], secret)
		if err != nil {
			http.Error(w, "transaction", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"0x%s"}`, request.ID, hex.EncodeToString(raw))
	}), nil
}

// signArgs signs the transaction in an object, and returns its encoding.
func signArgs(args *apitypes.SendTxArgs, secret *ecdsa.PrivateKey) ([]byte, error) {
	tx, err := args.ToTransaction()
	if err != nil {
		return nil, err
	}
	signed, err := types.SignTx(tx, types.LatestSignerForChainID(tx.ChainId()), secret)
	if err != nil {
		return nil, err
	}
	return signed.MarshalBinary()
}

// answerOf returns the answer of a handler to a request.
func answerOf(t *testing.T, handler http.Handler, body []byte) string {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
	request.SetBasicAuth("bench", rpcToken)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Body.String()
}
