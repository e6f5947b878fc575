package ethereum

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/internal/evm"
)

// fork has the rules of a hard fork that decide which transactions nodes accept, besides
// those that do not change.
type fork struct {
	name        string
	maxGas      uint64
	gasSource   string // of maxGas
	maxInitCode int
	prices      prices
}

// prices are what a fork charges for a transaction before it runs, in gas.
type prices struct {
	call, creation, delegation, address, storageKey uint64

	// The floor of the calldata, beyond its own base: 0 for that of call and creation.
	floorBase, floorByte, floorZeroByte, floorAddress, floorStorageKey uint64
}

// Prices that are the same in all forks.
const (
	gasByte     = 16
	gasZeroByte = 4
	gasInitWord = 2 // EIP-3860
)

var (
	// osaka: EIP-7825, EIP-3860; EIP-2930, EIP-7702, EIP-7623.
	osaka = fork{"Osaka", 1 << 24, "EIP-7825", 2 * 24576,
		prices{call: 21000, creation: 53000, delegation: 25000, address: 2400, storageKey: 1900, floorBase: 21000,
			floorByte: 40, floorZeroByte: 10}}

	// amsterdam: EIP-8037, EIP-7954; EIP-2780, of which call is the least over all senders,
	// EIP-8038, EIP-7976, EIP-7981. As in go-ethereum 1.17.10, core/state_transition.go.
	amsterdam = fork{"Amsterdam", 1<<32 - 1, "EIP-8037", 2 * 65536,
		prices{call: 12000, creation: 24000, delegation: 7816, address: 2900 + 20*64, storageKey: 2000 + 32*64,
			floorByte: 64, floorZeroByte: 64, floorAddress: 20 * 64, floorStorageKey: 32 * 64}}
)

// rules are the forks whose rules hold on a chain, or will hold with the software that its
// nodes run already: a binary without updates outlives the day of a fork. A transaction is
// one that no node accepts only if it breaks the rules of each of them.
type rules struct {
	forks  []fork
	capped bool   // there is a cap of gas
	most   uint64 // that cap, where it is not the forks'
	source string // of most
}

var (
	ethereumRules = rules{forks: []fork{osaka, amsterdam}, capped: true}
	rollupRules   = rules{forks: []fork{osaka, amsterdam}} // the OP stack's, whose nodes are built on Ethereum's
	tempoRules    = rules{capped: true, most: 30_000_000, source: "Tempo"}
)

// chainRules are the rules of the chains on which they are known. Other chains may count gas
// in another way, and so does Celo.
var chainRules = map[uint64]rules{
	1:        ethereumRules,
	17000:    ethereumRules,
	560048:   ethereumRules,
	11155111: {forks: []fork{amsterdam}, capped: true}, // since 2026-10-06

	10: rollupRules, 130: rollupRules, 480: rollupRules, 8453: rollupRules, 81457: rollupRules, 84532: rollupRules,
	11155420: rollupRules,

	evm.TempoMainnet: tempoRules,
	evm.TempoTestnet: tempoRules,
}

// each says what the bound is in each fork, if there are several.
func (r *rules) each(bound func(*fork) (name string, bound uint64)) string {
	texts := make([]string, len(r.forks))
	for i := range r.forks {
		name, number := bound(&r.forks[i])
		if texts[i] = name; len(texts) > 1 {
			texts[i] = fmt.Sprintf("%s: %d", name, number)
		}
	}
	return strings.Join(texts, "; ")
}

// of returns the intrinsic gas or the floor of the calldata, whichever is more.
func (p *prices) of(tx *transaction) uint64 {
	data := tx.data.Of(tx.raw)
	zero := uint64(0)
	for _, b := range data {
		if b == 0 {
			zero++
		}
	}
	other := uint64(len(data)) - zero
	addresses, keys := uint64(tx.accessList.Addresses), uint64(tx.accessList.StorageKeys)
	base, words := p.call, uint64(0)
	if tx.creation {
		base, words = p.creation, (uint64(len(data))+31)/32
	}
	gas := base + other*gasByte + zero*gasZeroByte + words*gasInitWord + addresses*p.address + keys*p.storageKey +
		uint64(tx.authorizations.count)*p.delegation
	if p.floorBase > 0 {
		base = p.floorBase
	}
	return max(gas, base+other*p.floorByte+zero*p.floorZeroByte+addresses*p.floorAddress+keys*p.floorStorageKey)
}
