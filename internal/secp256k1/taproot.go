package secp256k1

import (
	"sync"

	voi "gitlab.com/yawning/secp256k1-voi"
)

// Output is the key in a P2TR output, with the parity of its point's y.
type Output struct {
	X   [32]byte
	Odd bool
}

// Unspendable is the x coordinate of the point H of BIP-341, whose discrete logarithm is not
// known, and so not that of the keys derived from it.
var Unspendable = [32]byte{
	0x50, 0x92, 0x9b, 0x74, 0xc1, 0xa0, 0x49, 0x54, 0xb7, 0x8b, 0x4b, 0x60, 0x35, 0xe9, 0x7a, 0x5e,
	0x07, 0x8a, 0x5a, 0x0f, 0x28, 0xec, 0x96, 0xd5, 0x47, 0xbf, 0xee, 0x9a, 0xce, 0x80, 0x3a, 0xc0,
}

// liftX returns the point of an x-only public key, whose y is even (BIP-340).
func liftX(x [32]byte) (*voi.Point, error) {
	return voi.NewIdentityPoint().SetCompressedBytes(append([]byte{2}, x[:]...))
}

// OutputKey returns the output key of an internal key with a merkle root of 32 bytes, or with none
// (BIP-341). It returns an error if the internal key is not the x of a point.
//
// A tweak costs as much as a signature, and parsing, signing and verifying an input all
// compute the same one. It is public and depends on its input alone, so the last
// [maxOutputs] results are cached.
func OutputKey(internal [32]byte, root []byte) (Output, error) {
	in := tweakInput{internal: internal, hasRoot: len(root) > 0}
	copy(in.root[:], root)
	if output, ok := outputs.get(in); ok {
		return output, nil
	}
	point, err := liftX(internal)
	if err != nil {
		return Output{}, err
	}
	encoded := multiplyBase(reduced(tapTweak(internal[:], root)))
	tweak, err := voi.NewIdentityPoint().SetUncompressedBytes(encoded[:])
	if err != nil {
		return Output{}, err
	}
	compressed := point.Add(point, tweak).CompressedBytes()
	output := Output{[32]byte(compressed[1:]), compressed[0] == 3}
	outputs.put(in, output)
	return output, nil
}

// maxOutputs is the size of the cache of output keys: about 150 kB.
const maxOutputs = 1024

var outputs outputCache

type outputCache struct {
	mu      sync.Mutex
	outputs map[tweakInput]Output
}

type tweakInput struct {
	internal, root [32]byte
	hasRoot        bool
}

func (c *outputCache) get(in tweakInput) (Output, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	output, ok := c.outputs[in]
	return output, ok
}

// put caches an output, and evicts an arbitrary one if there are too many.
func (c *outputCache) put(in tweakInput, output Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outputs == nil {
		c.outputs = map[tweakInput]Output{}
	}
	for old := range c.outputs {
		if len(c.outputs) < maxOutputs {
			break
		}
		delete(c.outputs, old)
	}
	c.outputs[in] = output
}
