package bitcoin

import (
	"sync"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
)

// maxOutputKeys bounds how many output keys are remembered: some 150 kB.
const maxOutputKeys = 1024

// outputKeys tweaks internal keys into output keys and remembers the last ones.
// A tweak costs three quarters of a signature, is public, and depends on
// nothing but what it is asked for; the inputs of one wallet ask for the same.
type outputKeys struct {
	mu   sync.Mutex
	made map[tweakInput]outputKey
}

type tweakInput struct {
	internal, root [32]byte
	hasRoot        bool
}

// outputKey is what stands in a P2TR output, and the parity of its point.
type outputKey struct {
	x   [32]byte
	odd bool
}

// tweak returns the output key of an internal key with a merkle root, or with
// none (BIP-341). Its error says that the internal key is no point.
func (k *outputKeys) tweak(internal, root []byte) (outputKey, error) {
	in := tweakInput{internal: [32]byte(internal), hasRoot: root != nil}
	copy(in.root[:], root)
	k.mu.Lock()
	made, known := k.made[in]
	k.mu.Unlock()
	if known {
		return made, nil
	}
	point, err := schnorr.ParsePubKey(internal)
	if err != nil {
		return outputKey{}, err
	}
	compressed := txscript.ComputeTaprootOutputKey(point, root).SerializeCompressed()
	made = outputKey{[32]byte(compressed[1:]), compressed[0] == 3}
	k.remember(in, made)
	return made, nil
}

func (k *outputKeys) remember(in tweakInput, made outputKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil {
		k.made = map[tweakInput]outputKey{}
	}
	for old := range k.made {
		if len(k.made) < maxOutputKeys {
			break
		}
		delete(k.made, old)
	}
	k.made[in] = made
}
