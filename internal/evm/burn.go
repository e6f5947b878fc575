package evm

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// unspendable is a set of accounts that no one can spend from: precompiles, which never
// send, and addresses that have no known key.
type unspendable struct {
	ids    []string // CAIP-2 of the networks; nil: all
	one    Address
	beside uint64 // how many addresses follow that one, such as those of more precompiles
}

// unspendables are all of them. Sources: the EIPs of the precompiles (0x01 to 0x11 up to
// EIP-2537, 0x100 by EIP-7951) and of the system contracts (4788, 2935); java-tron,
// PrecompiledContracts.java; coreth, constants.BlackholeAddr; tempoxyz/tempo.
var unspendables = []unspendable{
	{one: Address{}, beside: 0x11},
	{one: hexAddress("0x100")},
	{one: hexAddress("0x000000000000000000000000000000000000dEaD")},
	{one: hexAddress("0xdEAD000000000000000042069420694206942069")},
	{one: hexAddress("0x00000000000000000000000000000000DeaDBeef")},
	{one: hexAddress("0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF")},
	{one: hexAddress("0xdeaDDeADDEaDdeaDdEAddEADDEAdDeadDEADDEaD")},
	// which stands for the native asset in many contracts
	{one: hexAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")},
	{one: hexAddress("0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF")},
	{one: hexAddress("0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE")}, // which calls system contracts
	{one: hexAddress("0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02")},
	{one: hexAddress("0x0000F90827F1C53a10cb7A02335B175320002935")},

	{ids: []string{"eip155:369"}, one: hexAddress("0x369")},
	{ids: []string{"eip155:43114"}, one: hexAddress("0x0100000000000000000000000000000000000000")},
	{ids: []string{tronNetwork}, one: hexAddress("0x77944d19c052b73ee2286823aa83f8138cb7032f")}, // in its genesis
	{ids: []string{tronNetwork}, one: hexAddress("0x20003")},
	{ids: []string{tronNetwork}, one: hexAddress("0x20009"), beside: 1},
	{ids: []string{tronNetwork}, one: hexAddress("0x1000001"), beside: 0x14},
	{ids: tempoNetworks, one: hexAddress("0xaAAAaaAA00000000000000000000000000000000")},
	{ids: tempoNetworks, one: hexAddress("0x20FC000000000000000000000000000000000000")},
	{ids: tempoNetworks, one: hexAddress("0x403C000000000000000000000000000000000000")},
	{ids: tempoNetworks, one: hexAddress("0xFDC0000000000000000000000000000000000000")},
	{ids: tempoNetworks, one: hexAddress("0x1060000000000000000000000000000000000000")},
	{ids: tempoNetworks, one: hexAddress("0xCCCCCCCC00000000000000000000000000000000"), beside: 1},
}

var tempoNetworks = []string{NetworkID(TempoMainnet), NetworkID(TempoTestnet)}

// Lost reports whether an asset that is transferred to a party is lost: that account cannot spend, or it is
// a contract that has no function to send the asset on. WETH and an EntryPoint credit native value to the
// contract that pays it out, so that it is lost too, unless it is the value of the call itself.
func (n *Network) Lost(asset chains.Asset, to chains.Party) bool {
	address, ok := addressOf(to)
	return asset.Token.Equal(to) || ok && n.keeps(address) || n.unspendable(to)
}

// unspendable reports whether no key and no code can spend from a party's account.
func (n *Network) unspendable(to chains.Party) bool {
	address, ok := addressOf(to)
	return ok && slices.ContainsFunc(unspendables, func(u unspendable) bool {
		const low = len(address) - 8
		number := binary.BigEndian.Uint64(address[low:]) - binary.BigEndian.Uint64(u.one[low:])
		return (u.ids == nil || slices.Contains(u.ids, n.ID)) &&
			[low]byte(address[:low]) == [low]byte(u.one[:low]) && number <= u.beside
	})
}

// keeps reports whether what is at an address never sends on what it gets: a built-in token, a precompile
// of Tempo, or a known contract that does not act for every caller. It has no function for that.
func (n *Network) keeps(address Address) bool {
	if c := n.known(address); c != nil {
		return !c.isOneOf(sharedPlaces)
	}
	return n.precompile(address) != "" || tokenContracts()[tokenContract{n.ID, address}]
}

type tokenContract struct {
	network string
	at      Address
}

// tokenContracts are those of the built-in tokens.
var tokenContracts = sync.OnceValue(func() map[tokenContract]bool {
	set := map[tokenContract]bool{}
	for _, token := range chains.ListedTokens() {
		if common.IsHexAddress(token.Address) {
			set[tokenContract{token.Chain, hexAddress(token.Address)}] = true
		}
	}
	set[tokenContract{tronNetwork, hexAddress("0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C")}] = true // USDT
	return set
})

// Listed reports whether an asset is a built-in token. One token of a collection is none.
func Listed(asset chains.Asset) bool {
	address, ok := addressOf(asset.Token)
	return ok && asset.NFT == nil && tokenContracts()[tokenContract{asset.Chain, address}]
}

// Settled returns an effect of an order, which is not of a call: what is sent where it is
// lost, or where anyone can take it, is burned.
func (n *Network) Settled(effect chains.Effect) chains.Effect {
	if effect.Kind == chains.KindTransfer && (n.Lost(effect.Asset, effect.To) || IsShared(effect.To)) {
		effect.Kind = chains.KindBurn
	}
	return effect
}
