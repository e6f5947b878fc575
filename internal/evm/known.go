package evm

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// The contracts whose functions are decoded at known addresses only.
const (
	atWETH            contractSet = "WETH"
	atPermit2         contractSet = "Permit2"
	atUniversalRouter contractSet = "Universal Router"
	atMulticall3      contractSet = "Multicall3"
	atEntryPoint      contractSet = "EntryPoint" // any version
	atEntryPoint06    contractSet = "EntryPoint 0.6"
	atEntryPoint07    contractSet = "EntryPoint 0.7 or later"
	atMultiSend       contractSet = "MultiSend"         // any version
	atCallOnly        contractSet = "MultiSendCallOnly" // which others than Safes may call
	atZeroIsCaller    contractSet = "MultiSend whose zero address is its caller"
	atDeposit         contractSet = "deposit contract"
	atWithdrawals     contractSet = "withdrawal requests (EIP-7002)"
	atConsolidations  contractSet = "consolidation requests (EIP-7251)"
	atCreate2Factory  contractSet = "CREATE2 factory"
	atAccountFactory  contractSet = "account factory"  // of smart accounts (ERC-4337)
	atBootloader      contractSet = "the chain itself" // of the ZK Stack
	atOpen            contractSet = "open contract"    // makes whatever call anyone wants
	atSweeper         contractSet = "open router"      // sends what it has to any caller that asks
)

// contract is a contract at a known address on some chains.
type contract struct {
	name   string
	sets   []contractSet
	chains []uint64 // nil: on every EVM chain, because the address commits to the code

	also *contract // at the same address on other chains; nil: none
}

func (c *contract) on(chainID uint64) bool {
	switch {
	case c.chains != nil:
		return slices.Contains(c.chains, chainID)
	case chainID == zkSyncEra: // which computes addresses in another way, but runs EVM code as well
		return c.is(atMultiSend)
	}
	return chainID != tronMainnet
}

const (
	zkSyncEra   = 324
	tronMainnet = 728126428 // by its genesis block; its transactions name no network
)

// contractSets are those in contracts.txt.
var contractSets = []contractSet{atWETH, atPermit2, atUniversalRouter, atMulticall3, atEntryPoint, atEntryPoint06,
	atEntryPoint07, atMultiSend, atCallOnly, atZeroIsCaller, atDeposit, atWithdrawals, atConsolidations,
	atCreate2Factory, atAccountFactory, atOpen, atSweeper}

// known returns the contract at an address, nil if none is known there.
func (n *Network) known(address Address) *contract {
	chainID := n.ChainID
	if n.ID == tronNetwork {
		chainID = tronMainnet
	}
	for c := contracts()[address]; chainID != 0 && c != nil; c = c.also {
		if c.on(chainID) {
			return c
		}
	}
	return nil
}

func (n *Network) isKnown(address Address, w contractSet) bool {
	c := n.known(address)
	return c != nil && c.is(w)
}

func (c *contract) is(w contractSet) bool { return slices.Contains(c.sets, w) }

func (c *contract) isOneOf(kinds []contractSet) bool { return slices.ContainsFunc(kinds, c.is) }

// KnownName returns the name of the known contract at an address, empty if there is none.
func (n *Network) KnownName(address Address) string {
	if c := n.known(address); c != nil {
		return c.name
	}
	return ""
}

// A contractSet says at which contracts a function is known to do what its standard says.
type contractSet string

const (
	// atAny: at every contract. Whatever the contract is, such a function can do no
	// more than the standard allows to the asset that is called.
	atAny contractSet = ""

	// asClaimed: the contract may do anything else as well. The function is decoded and
	// shown, but its call is not accounted for.
	asClaimed contractSet = "claimed"
)

// tronNetwork is the id of Tron's networks, which the bytes do not tell apart.
const tronNetwork = "tron"

// sharedPlaces are the contracts that act for every caller alike: what one transaction
// leaves there, the next one can take. openPlaces are those among them that make whatever
// call anyone wants.
var (
	sharedPlaces = append([]contractSet{atUniversalRouter, atSweeper}, openPlaces...)
	openPlaces   = []contractSet{atMulticall3, atCallOnly, atOpen}
)

// IsShared reports whether a party is a contract where anyone can take what is left.
func IsShared(p chains.Party) bool { return isOneOf(p, sharedPlaces) }

// isOneOf reports whether a party has the address of a known contract of one of some kinds, on
// whatever network: what acts for everyone on one hardly holds money for someone on another.
func isOneOf(p chains.Party, kinds []contractSet) bool {
	address, ok := addressOf(p)
	for c := contracts()[address]; ok && c != nil; c = c.also {
		if c.isOneOf(kinds) {
			return true
		}
	}
	return false
}

//go:embed contracts.txt
var contractsText string

var contracts = sync.OnceValue(func() map[Address]*contract { return readContracts(contractsText) })

// readContracts reads contracts.txt. It panics on a line that is not in its form.
func readContracts(text string) map[Address]*contract {
	byAddress := map[Address]*contract{}
	var at contract
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case line[0] == '\t':
			known := &contract{name: at.name, sets: at.sets, chains: readChains(words[1:])}
			address := hexAddress(words[0])
			if !common.IsHexAddress(words[0]) {
				panic("evm: contracts.txt: " + line)
			}
			if first := byAddress[address]; first != nil {
				first.also = known
				continue
			}
			byAddress[address] = known
		default:
			name, sets, _ := strings.Cut(strings.TrimSpace(line), ":")
			at = contract{name: name}
			for set := range strings.FieldsFuncSeq(sets, func(r rune) bool { return r == ',' }) {
				set := contractSet(strings.TrimSpace(set))
				if !slices.Contains(contractSets, set) {
					panic("evm: contracts.txt: " + line)
				}
				at.sets = append(at.sets, set)
			}
		}
	}
	return byAddress
}

// readChains reads ids of chains. No id stands for every EVM chain.
func readChains(words []string) (chains []uint64) {
	for _, word := range words {
		id, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			panic("evm: contracts.txt: chain " + word)
		}
		chains = append(chains, id)
	}
	return chains
}

func hexAddress(text string) Address { return Address(common.HexToAddress(text)) }
