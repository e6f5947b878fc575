package remote

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// ProofSigner is an app-proof key at a service, for countersign.Config.ProofSigner. It is safe
// for concurrent use.
type ProofSigner struct {
	uri    string
	key    Key
	public *ecdsa.PublicKey
	cancel context.CancelFunc
	kept   sync.WaitGroup // a call of Keep
}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner opens an ECDSA key on P-256. Every signature is verified under the public key
// that the service had then. The context is that of opening only; Close ends what runs in the
// background.
func OpenProofSigner(ctx context.Context, services Services, uri string) (*ProofSigner, error) {
	service, _, err := services.Of(uri)
	if err == nil {
		err = service.Check(uri)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	key, err := service.Open(ctx, uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	public, err := key.PublicKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	if public.Proof == nil {
		return nil, fmt.Errorf("%s: %w: the app-proof key must be an ECDSA key on P-256", uri, keystore.ErrUnsupported)
	}
	signer := &ProofSigner{uri: uri, key: key, public: public.Proof}
	background, cancel := context.WithCancel(context.Background())
	signer.cancel = cancel
	keep(background, &signer.kept, service)
	return signer, nil
}

// Close ends what runs in the background. Signing still works.
func (p *ProofSigner) Close() error {
	p.cancel()
	p.kept.Wait()
	return nil
}

// Public implements crypto.Signer.
func (p *ProofSigner) Public() crypto.PublicKey { return p.public }

// Sign implements crypto.Signer. It takes digests of SHA-256 and returns DER.
func (p *ProofSigner) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if options == nil || options.HashFunc() != crypto.SHA256 || len(digest) != 32 {
		return nil, errors.New("app-proof key: only digests of SHA-256 are signed: the options must be crypto.SHA256")
	}
	ctx, cancel := context.WithTimeout(context.Background(), DefaultTimeout)
	defer cancel()
	raw, err := p.key.Sign(ctx, P256, digest)
	if err != nil {
		return nil, fmt.Errorf("app-proof key %s: %w", p.uri, err)
	}
	der := raw
	if !ecdsa.VerifyASN1(p.public, digest, der) && len(raw) == 64 {
		der, err = asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])})
	}
	if err != nil || !ecdsa.VerifyASN1(p.public, digest, der) {
		return nil, fmt.Errorf("app-proof key %s: %w: it does not verify under the public key", p.uri, keystore.ErrSignatureCheck)
	}
	return der, nil
}
