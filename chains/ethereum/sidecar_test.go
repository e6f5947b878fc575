package ethereum_test

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/kzg4844"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/gethoracle"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// twoBlobs are two random blobs and their proofs, computed by go-ethereum once for all
// tests.
var twoBlobs = sync.OnceValue(func() map[byte]*types.BlobTxSidecar {
	random := rand.New(rand.NewPCG(5, 6))
	blobs := make([]kzg4844.Blob, 2)
	var commitments []kzg4844.Commitment
	var proofs, cellProofs []kzg4844.Proof
	for i := range blobs {
		for at := range blobs[i] {
			if at%32 != 0 { // field elements are below the modulus
				blobs[i][at] = byte(random.Uint32())
			}
		}
		commitments = append(commitments, must(kzg4844.BlobToCommitment(&blobs[i])))
		proofs = append(proofs, must(kzg4844.ComputeBlobProof(&blobs[i], commitments[i])))
		cellProofs = append(cellProofs, must(kzg4844.ComputeCellProofs(&blobs[i]))...)
	}
	return map[byte]*types.BlobTxSidecar{
		0: types.NewBlobTxSidecar(types.BlobSidecarVersion0, blobs, commitments, proofs),
		1: types.NewBlobTxSidecar(types.BlobSidecarVersion1, blobs, commitments, cellProofs),
	}
})

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// network is a blob transaction in its network form, item by item.
type network struct {
	body                       []byte // a list
	version                    []byte // none in version 0
	blobs, commitments, proofs [][]byte
	rest                       []byte
}

// newNetwork returns the unsigned network form of a version, and its transaction.
func newNetwork(version byte) (network, *types.BlobTx) {
	sidecar := twoBlobs()[version]
	tx := &types.BlobTx{
		ChainID: uint256.NewInt(1), Nonce: 7, GasTipCap: uint256.NewInt(1), GasFeeCap: uint256.NewInt(20),
		Gas: 21000, To: common.Address{1}, Value: uint256.NewInt(0), BlobFeeCap: uint256.NewInt(3),
		BlobHashes: sidecar.BlobHashes(), Sidecar: sidecar,
	}
	n := network{body: gethoracle.Unsigned(types.NewTx(tx))[1:]}
	if version == 1 {
		n.version = []byte{1}
	}
	for i := range sidecar.Blobs {
		n.blobs = append(n.blobs, bytes.Clone(sidecar.Blobs[i][:]))
		n.commitments = append(n.commitments, bytes.Clone(sidecar.Commitments[i][:]))
	}
	for i := range sidecar.Proofs {
		n.proofs = append(n.proofs, bytes.Clone(sidecar.Proofs[i][:]))
	}
	return n, tx
}

func (n *network) raw() []byte {
	content := slices.Concat(n.body, n.version,
		must(rlp.EncodeToBytes(n.blobs)), must(rlp.EncodeToBytes(n.commitments)), must(rlp.EncodeToBytes(n.proofs)), n.rest)
	return append([]byte{types.BlobTxType}, gethoracle.List(content)...)
}

// TestNetworkForm checks that signing both network forms, and their aliases, yields
// go-ethereum's bytes.
func TestNetworkForm(t *testing.T) {
	testenv.Slow(t)
	private := must(crypto.ToECDSA(bytes.Repeat([]byte{1}, 32)))
	key := evmtest.Key(t, hex.EncodeToString(crypto.FromECDSA(private)))
	for version := range byte(2) {
		n, tx := newNetwork(version)
		want := must(must(types.SignNewTx(private, types.LatestSignerForChainID(big.NewInt(1)), tx)).MarshalBinary())
		alias := n
		alias.body = gethoracle.WithEmptySignature(append([]byte{3}, n.body...))[1:]
		for name, input := range map[string][]byte{"plain": n.raw(), "alias": alias.raw()} {
			if got := evmtest.SignRaw(t, ethereum.Chain{}, input, key); !bytes.Equal(got, want) {
				t.Errorf("version %d, %s: signed bytes differ from go-ethereum's", version, name)
			}
		}
		checkSender(t, want, key.PublicKey())
	}
}

// TestSidecarOfVersion0 checks that version 0 is refused by default: pools only accept
// version 1 since Osaka.
func TestSidecarOfVersion0(t *testing.T) {
	testenv.Slow(t)
	for version, want := range [][]string{{ethereum.HazardNeverIncluded}, nil} {
		n, _ := newNetwork(byte(version))
		tx, err := ethereum.Chain{}.Parse(n.raw())
		testenv.Must(t, err)
		if got := chaintest.Names(tx.Hazards()); !slices.Equal(got, want) {
			t.Errorf("version %d: hazards %v, want %v", version, got, want)
		}
	}
}

// sidecarFaults change one thing in a valid network form of two blobs. The
// error is that of version 0, then of version 1.
var sidecarFaults = []struct {
	name   string
	change func(n *network)
	want   [2]string
}{
	{"blob bit flipped", func(n *network) { n.blobs[1][33] ^= 1 }, [2]string{
		"ethereum: field 4 (proofs), item 2 at byte 262414: the KZG proof of blob 2 does not verify: can't verify opening proof",
		"ethereum: field 5 (proofs), item 129 at byte 268639: the KZG proof of blob 2 does not verify: can't verify opening proof",
	}},
	{"blob not a field element", func(n *network) { n.blobs[0][0] = 0xff }, [2]string{
		"ethereum: field 4 (proofs), item 1 at byte 262365: the KZG proof of blob 1 does not verify: scalar is not canonical when interpreted as a big integer in big-endian",
		"ethereum: field 5 (proofs), item 1 at byte 262367: the KZG proof of blob 1 does not verify: scalar is not canonical when interpreted as a big integer in big-endian",
	}},
	{"blobs swapped", func(n *network) { n.blobs[0], n.blobs[1] = n.blobs[1], n.blobs[0] }, [2]string{
		"ethereum: field 4 (proofs), item 1 at byte 262365: the KZG proof of blob 1 does not verify: can't verify opening proof",
		"ethereum: field 5 (proofs), item 1 at byte 262367: the KZG proof of blob 1 does not verify: can't verify opening proof",
	}},
	{"blob missing", func(n *network) { n.blobs = n.blobs[:1] }, [2]string{
		"ethereum: field 2 (blobs) at byte 107: length 1, want 2 for 2 blob hashes",
		"ethereum: field 3 (blobs) at byte 108: length 1, want 2 for 2 blob hashes",
	}},
	{"blob too many", func(n *network) { n.blobs = append(n.blobs, n.blobs[0]) }, [2]string{
		"ethereum: field 2 (blobs) at byte 107: length 3, want 2 for 2 blob hashes",
		"ethereum: field 3 (blobs) at byte 108: length 3, want 2 for 2 blob hashes",
	}},
	{"blob short", func(n *network) { n.blobs[1] = n.blobs[1][1:] }, [2]string{
		"ethereum: field 2 (blobs), item 2 (blob) at byte 131187: 131071 bytes, want 131072",
		"ethereum: field 3 (blobs), item 2 (blob) at byte 131188: 131071 bytes, want 131072",
	}},
	{"commitment bit flipped", func(n *network) { n.commitments[0][47] ^= 1 }, [2]string{
		"ethereum: field 3 (commitments), item 1 at byte 262265: is not the one whose hash blobVersionedHashes has",
		"ethereum: field 4 (commitments), item 1 at byte 262266: is not the one whose hash blobVersionedHashes has",
	}},
	{"commitments swapped", func(n *network) { slices.Reverse(n.commitments) }, [2]string{
		"ethereum: field 3 (commitments), item 1 at byte 262265: is not the one whose hash blobVersionedHashes has",
		"ethereum: field 4 (commitments), item 1 at byte 262266: is not the one whose hash blobVersionedHashes has",
	}},
	{"commitment missing", func(n *network) { n.commitments = n.commitments[:1] }, [2]string{
		"ethereum: field 3 (commitments) at byte 262263: length 1, want 2 for 2 blob hashes",
		"ethereum: field 4 (commitments) at byte 262264: length 1, want 2 for 2 blob hashes",
	}},
	{"commitment long", func(n *network) { n.commitments[1] = append(n.commitments[1], 0) }, [2]string{
		"ethereum: field 3 (commitments), item 2 (commitment) at byte 262314: 49 bytes, want 48",
		"ethereum: field 4 (commitments), item 2 (commitment) at byte 262315: 49 bytes, want 48",
	}},
	{"proof bit flipped", func(n *network) { n.proofs[len(n.proofs)-1][47] ^= 1 }, [2]string{
		"ethereum: field 4 (proofs), item 2 at byte 262414: the KZG proof of blob 2 does not verify: invalid compressed coordinate: square root doesn't exist",
		"ethereum: field 5 (proofs), item 129 at byte 268639: the KZG proof of blob 2 does not verify: invalid compressed coordinate: square root doesn't exist",
	}},
	{"proofs swapped", func(n *network) { slices.Reverse(n.proofs) }, [2]string{
		"ethereum: field 4 (proofs), item 1 at byte 262365: the KZG proof of blob 1 does not verify: can't verify opening proof",
		"ethereum: field 5 (proofs), item 1 at byte 262367: the KZG proof of blob 1 does not verify: can't verify opening proof",
	}},
	{"proof of infinity", func(n *network) { n.proofs[0] = append([]byte{0xc0}, make([]byte, 47)...) }, [2]string{
		"ethereum: field 4 (proofs), item 1 at byte 262365: the KZG proof of blob 1 does not verify: can't verify opening proof",
		"ethereum: field 5 (proofs), item 1 at byte 262367: the KZG proof of blob 1 does not verify: can't verify opening proof",
	}},
	{"proof missing", func(n *network) { n.proofs = n.proofs[1:] }, [2]string{
		"ethereum: field 4 (proofs) at byte 262363: length 1, want 2 for 2 blob hashes",
		"ethereum: field 5 (proofs) at byte 262364: length 255, want 256 for 2 blob hashes",
	}},
	{"proof too many", func(n *network) { n.proofs = append(n.proofs, n.proofs[0]) }, [2]string{
		"ethereum: field 4 (proofs) at byte 262363: length 3, want 2 for 2 blob hashes",
		"ethereum: field 5 (proofs) at byte 262364: length 257, want 256 for 2 blob hashes",
	}},
	{"no proofs", func(n *network) { n.proofs = nil }, [2]string{
		"ethereum: field 4 (proofs) at byte 262363: length 0, want 2 for 2 blob hashes",
		"ethereum: field 5 (proofs) at byte 262364: length 0, want 256 for 2 blob hashes",
	}},
	{"nothing but the body", func(n *network) { n.blobs, n.commitments, n.proofs = nil, nil, nil }, [2]string{
		"ethereum: field 2 (blobs) at byte 105: length 0, want 2 for 2 blob hashes",
		"ethereum: field 3 (blobs) at byte 106: length 0, want 2 for 2 blob hashes",
	}},
	{"another version", func(n *network) {
		n.version = map[bool][]byte{true: {1}, false: nil}[n.version == nil]
	}, [2]string{
		"ethereum: field 5 (proofs) at byte 262364: length 2, want 256 for 2 blob hashes",
		"ethereum: field 4 (proofs) at byte 262363: length 256, want 2 for 2 blob hashes",
	}},
	{"version 0 written", func(n *network) { n.version = []byte{0x80} }, [2]string{
		"ethereum: field 2 (version) at byte 107: unknown wrapper version 0: expected 1, or none (EIP-7594)",
		"ethereum: field 2 (version) at byte 107: unknown wrapper version 0: expected 1, or none (EIP-7594)",
	}},
	{"version 00", func(n *network) { n.version = []byte{0x00} }, [2]string{
		"ethereum: field 2 (version) at byte 107: integer has a leading zero",
		"ethereum: field 2 (version) at byte 107: integer has a leading zero",
	}},
	{"version 2", func(n *network) { n.version = []byte{2} }, [2]string{
		"ethereum: field 2 (version) at byte 107: unknown wrapper version 2: expected 1, or none (EIP-7594)",
		"ethereum: field 2 (version) at byte 107: unknown wrapper version 2: expected 1, or none (EIP-7594)",
	}},
	{"an item more", func(n *network) { n.rest = []byte{0xc0} }, [2]string{
		"ethereum: at byte 262463: 1 byte left over after item 4",
		"ethereum: at byte 5: 6 items: the network form has 4, or 5 with its version (EIP-7594)",
	}},
	{"a version behind", func(n *network) { n.version, n.rest = nil, []byte{1} }, [2]string{
		"ethereum: at byte 262463: 1 byte left over after item 4",
		"ethereum: field 4 (proofs) at byte 262363: length 256, want 2 for 2 blob hashes",
	}},
	{"a list that overflows", func(n *network) { n.rest = []byte{0xc1} }, [2]string{
		"ethereum: at byte 262463: 1 byte left over after item 4",
		"ethereum: at byte 274911: 1 byte left over after item 5",
	}},
	{"body signed", func(n *network) {
		content, _, _ := rlp.SplitList(n.body)
		n.body = gethoracle.List(append(bytes.Clone(content), 1, 1, 1))
	}, [2]string{
		"ethereum: field 1 (body), item 12 (yParity) at byte 107: is not empty: this transaction is signed already",
		"ethereum: field 1 (body), item 12 (yParity) at byte 107: is not empty: this transaction is signed already",
	}},
	{"body empty", func(n *network) { n.body = []byte{0xc0} }, [2]string{
		"ethereum: field 1 (body) at byte 6: 0 items: a transaction of type 3 has 11 before it is signed",
		"ethereum: field 1 (body) at byte 6: 0 items: a transaction of type 3 has 11 before it is signed",
	}},
	{"body with other hashes", func(n *network) {
		n.body = must(hex.DecodeString(list(with(items3, 11, list(blobHash, blobHash))...)))
	}, [2]string{
		"ethereum: field 3 (commitments), item 1 at byte 262278: is not the one whose hash blobVersionedHashes has",
		"ethereum: field 4 (commitments), item 1 at byte 262279: is not the one whose hash blobVersionedHashes has",
	}},
}

func TestSidecarFaults(t *testing.T) {
	testenv.Slow(t) // the proofs of version 1
	for _, c := range sidecarFaults {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			for version, want := range c.want {
				n, _ := newNetwork(byte(version))
				c.change(&n)
				_, err := ethereum.Chain{}.Parse(n.raw())
				if err == nil {
					t.Fatalf("version %d: accepted", version)
				}
				if err.Error() != want {
					t.Errorf("version %d\n got %s\nwant %s", version, err, want)
				}
			}
		})
	}
}

// TestSidecarBytes changes single bytes of a network form, one after another: those of
// headers, of the ends of lists, and others at random. The body commits to the sidecar,
// so that no change of it is accepted.
func TestSidecarBytes(t *testing.T) {
	testenv.Slow(t)
	random := rand.New(rand.NewPCG(14, 15))
	for version := range byte(2) {
		n, _ := newNetwork(version)
		original := n.raw()
		content := len(n.body) + len(n.version)
		sidecar := len(original) - len(must(rlp.EncodeToBytes(n.blobs))) - len(must(rlp.EncodeToBytes(n.commitments))) - len(must(rlp.EncodeToBytes(n.proofs)))
		places := []int{0, 1, 2, 3, 4, sidecar - content, len(original) - 1, len(original) - 49, len(original) - 50}
		for at := range 12 {
			places = append(places, sidecar-1+at)
		}
		for range 10 {
			places = append(places, sidecar+random.IntN(len(original)-sidecar))
		}
		for _, at := range places {
			raw := bytes.Clone(original)
			raw[at] ^= byte(1 + random.IntN(255))
			if _, err := (ethereum.Chain{}).Parse(raw); err == nil {
				t.Errorf("version %d: byte %d was changed to %02x, and nobody minded", version, at, raw[at])
			}
		}
	}
}
