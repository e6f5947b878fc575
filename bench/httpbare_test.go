package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/stamp"
)

// newBare returns a handler that does the least a server could: verify a stamp and sign a
// hash.
func newBare(publicKey string) (http.Handler, error) {
	secret, err := crypto.HexToECDSA(enginetest.Secret)
	if err != nil {
		return nil, err
	}
	compressed, err := hex.DecodeString(publicKey)
	if err != nil {
		return nil, err
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), compressed)
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), elliptic.Marshal(elliptic.P256(), x, y)) //nolint:staticcheck // crypto/ecdsa reads no compressed points
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "body", http.StatusBadRequest)
			return
		}
		if !bareStamp(pub, r.Header.Get("X-Stamp"), body) {
			http.Error(w, "stamp", http.StatusUnauthorized)
			return
		}
		var request struct {
			Parameters activity.SignTransactionIntent
		}
		if err := json.Unmarshal(body, &request); err != nil {
			http.Error(w, "JSON", http.StatusBadRequest)
			return
		}
		signature, err := crypto.Sign(crypto.Keccak256([]byte(request.Parameters.UnsignedTransaction)), secret)
		if err != nil {
			http.Error(w, "signature", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"signature":"%x"}`, signature)
	}), nil
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
