package evm

import (
	"encoding/binary"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// unspendable is a set of accounts that nobody can spend from: precompiles, which never
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
	{one: hexAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")}, // which stands for the native asset in many contracts
	{one: hexAddress("0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF")},
	{one: hexAddress("0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE")}, // which calls system contracts
	{one: hexAddress("0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02")},
	{one: hexAddress("0x0000F90827F1C53a10cb7A02335B175320002935")},

	{ids: []string{"eip155:369"}, one: hexAddress("0x369")},
	{ids: []string{"eip155:43114"}, one: hexAddress("0x0100000000000000000000000000000000000000")},
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

// tronNetwork is the id of Tron's networks, which the bytes do not tell apart.
const tronNetwork = "tron"

var tempoNetworks = []string{NetworkID(TempoMainnet), NetworkID(TempoTestnet)}

// has reports whether an address is in the set.
func (u *unspendable) has(at Address) bool {
	const low = len(at) - 8
	number := binary.BigEndian.Uint64(at[low:]) - binary.BigEndian.Uint64(u.one[low:])
	return [low]byte(at[:low]) == [low]byte(u.one[:low]) && number <= u.beside
}

// Loses reports whether an asset that is transferred to a party is lost: nobody can spend
// from that account.
func (n *Network) Loses(to chains.Party) bool {
	address, ok := addressOf(to)
	return ok && slices.ContainsFunc(unspendables, func(u unspendable) bool {
		return (u.ids == nil || slices.Contains(u.ids, n.ID)) && u.has(address)
	})
}

// burns reports whether an asset that is transferred to a party is lost, or left to be taken:
// nobody can spend from that account, it is the token's own contract, or anyone can take what
// is there, such as in a router.
func (n *Network) burns(asset chains.Asset, to chains.Party) bool {
	return n.Loses(to) || n.IsShared(to) || asset.Token.Equal(to)
}

// Settled returns an effect of an order, which is not of a call: what is sent where it is
// lost, or where anyone can take it, is burned.
func (n *Network) Settled(effect chains.Effect) chains.Effect {
	if effect.Kind == chains.KindTransfer && n.burns(effect.Asset, effect.To) {
		effect.Kind = chains.KindBurn
	}
	return effect
}

// addressOf returns the 20 bytes of a party's address; ok is false if it has none.
func addressOf(p chains.Party) (at Address, ok bool) {
	address := p.Address()
	if len(address) < len(at) {
		return at, false
	}
	return Address(address[len(address)-len(at):]), true
}
