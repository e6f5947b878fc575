package evm

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// standardOf returns the text of a function in the table, by the beginning of that text,
// a contract at which it is known, and the value that it takes.
func standardOf(t *testing.T, beginning string) (text string, at Address, value *big.Int) {
	t.Helper()
	for _, row := range standards {
		if !strings.HasPrefix(row.function, beginning) {
			continue
		}
		if value = new(big.Int); row.act.holds {
			value.SetInt64(7)
		}
		return row.function, home(&function{at: row.at}), value
	}
	t.Fatalf("there is no %s", beginning)
	return "", Address{}, nil
}

// TestAccountFunctions checks each operand of the functions that give control of an
// account, or that lock what it has.
func TestAccountFunctions(t *testing.T) {
	a, b, zero, number := common.Address{0xaa}, common.Address{0xbb}, common.Address{}, big.NewInt
	safe := func(price int64, token, receiver common.Address) []any {
		return []any{b, number(0), []byte{}, uint8(0), number(1), number(2), number(price), token, receiver, []byte{}}
	}
	deposit := func(credentials []byte) []any {
		return []any{bytes.Repeat([]byte{0x11}, 48), credentials, bytes.Repeat([]byte{0x22}, 96), [32]byte{0x33}}
	}
	credentials := func(prefix ...byte) []byte { return append(append(prefix, make([]byte, 12-len(prefix))...), a[:]...) }
	validator := "0x" + strings.Repeat("11", 48)
	for _, c := range []struct {
		function string
		values   []any
		want     string
	}{
		{"transferOwnership(", []any{a}, "authority signer>a over self"},
		{"acceptOwnership(", nil, "authority signer>signer over self"},
		{"renounceOwnership(", nil, "authority signer>zero over self"},
		{"grantRole(", []any{[32]byte{1}, a}, "authority signer>a over self"},
		{"revokeRole(", []any{[32]byte{1}, a}, "revoke signer>a over self"},
		{"upgrade(address proxy", []any{a, b}, "authority signer>b over a"},
		{"installModule(", []any{number(1), a, []byte{}}, "authority signer>a over self"},
		{"uninstallModule(", []any{number(1), a, []byte{}}, "revoke signer>a over self"},
		{"removeOwner(", []any{a, b, number(1)}, "revoke signer>b over self"},
		{"swapOwner(", []any{common.Address{1}, a, b}, "revoke signer>a over self\nauthority signer>b over self"},
		{"disableModule(", []any{a, b}, "revoke signer>b over self"},
		{"setup(", []any{[]common.Address{a, b}, number(1), zero, []byte{}, zero, zero, number(0), zero},
			"authority signer>a over self\nauthority signer>b over self"},
		{"setup(", []any{[]common.Address{a}, number(1), zero, []byte{}, zero, a, number(7), b},
			"transfer self>b most 7 of a\nauthority signer>a over self"},
		{"setup(", []any{[]common.Address{a}, number(1), zero, []byte{}, zero, zero, number(7), zero},
			"transfer self>signer most 7\nauthority signer>a over self"},
		{"execTransaction(", safe(0, a, b), ""},
		{"execTransaction(", safe(5, a, b), "transfer self>b most 200015 of a"}, // (1 + 2 + 40000) · 5
		{"execTransaction(", safe(5, zero, b), "transfer self>b most 200015"},
		{"execTransaction(", safe(5, a, zero), "transfer self>signer most 200015 of a"},
		{"execTransaction(", safe(5, a, a), "burn self>a most 200015 of a"},
		{"depositTo(", []any{a}, "stake signer>a over self exact 7"},
		{"addStake(", []any{uint32(9)}, "stake signer>signer over self exact 7"},
		{"withdrawTo(", []any{a, number(3)}, "transfer signer>a over self exact 3"},
		{"withdrawStake(", []any{a}, "transfer signer>a over self all"},
		{"deposit(bytes validator key", deposit(credentials(1)), "stake signer>a over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(credentials(2)), "stake signer>a over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(credentials(0)), "stake signer>unknown over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(credentials(3)), "stake signer>unknown over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(credentials(1, 1)), "stake signer>unknown over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(slices.Insert(credentials(1), 11, byte(1))[:32]), "stake signer>unknown over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(credentials(1)[:31]), "stake signer>unknown over " + validator + " exact 7"},
		{"deposit(bytes validator key", deposit(append(credentials(1), 0)), "stake signer>unknown over " + validator + " exact 7"},
	} {
		text, self, value := standardOf(t, c.function)
		effects := mainnet.Pass().Read(Transaction{To: self, Value: value, Data: pack(t, text, c.values...)}).Effects()
		got := effectLines(effects, map[string]common.Address{"self": common.Address(self), "a": a, "b": b, "zero": zero})
		if effects[0].Undecoded { // of a function that any contract may have
			_, got, _ = strings.Cut(got, "\n")
		}
		if got != c.want {
			t.Errorf("%s%v:\n%s\nwant\n%s", c.function, c.values, got, c.want)
		}
	}
}

// TestContractsWithoutSelector checks each operand of what the system contracts and the
// CREATE2 factory are sent.
func TestContractsWithoutSelector(t *testing.T) {
	first, second := bytes.Repeat([]byte{0x11}, 48), slices.Concat(bytes.Repeat([]byte{0x11}, 47), []byte{0x22})
	validators := map[string]string{"one": "0x" + common.Bytes2Hex(first), "two": "0x" + common.Bytes2Hex(second)}
	salt := [32]byte{31: 1}
	const blind = "call signer>self "
	for _, c := range []struct {
		name string
		at   contractSet
		data []byte
		want string
	}{
		{"a withdrawal", atWithdrawals, append(bytes.Clone(first), 1, 0, 0, 0, 0, 0, 0, 3), "unstake signer>signer over one most " + "72057594037927939000000000"},
		{"a whole withdrawal", atWithdrawals, append(bytes.Clone(second), make([]byte, 8)...), "unstake signer>signer over two all"},
		{"a short withdrawal", atWithdrawals, append(bytes.Clone(first), 0, 0, 0, 0, 0, 0, 3), blind + "0x11111111"},
		{"a long withdrawal", atWithdrawals, append(bytes.Clone(first), 0, 0, 0, 0, 0, 0, 0, 3, 0), blind + "0x11111111"},
		{"a consolidation", atConsolidations, slices.Concat(first, second), "stake signer>unknown over two all"},
		{"a consolidation back", atConsolidations, slices.Concat(second, first), "stake signer>unknown over one all"},
		{"compounding", atConsolidations, slices.Concat(second, second), "settings signer>- over two"},
		{"a short consolidation", atConsolidations, slices.Concat(first, second)[:95], blind + "0x11111111"},
		{"a long consolidation", atConsolidations, slices.Concat(first, second, []byte{0}), blind + "0x11111111"},
		{"a creation", atCreate2Factory, append(salt[:], 0x60, 0), "create signer>created"},
		{"an empty creation", atCreate2Factory, salt[:], "create signer>empty"},
		{"a short salt", atCreate2Factory, salt[:31], blind + "0x00000000"},
	} {
		self := common.Address(home(&function{at: c.at}))
		names := map[string]common.Address{"self": self,
			"created": crypto.CreateAddress2(self, salt, crypto.Keccak256([]byte{0x60, 0})), "empty": crypto.CreateAddress2(self, salt, crypto.Keccak256(nil))}
		got := effectLines(mainnet.Pass().Read(Transaction{To: Address(self), Data: c.data}).Effects(), names)
		for name, key := range validators {
			got = strings.ReplaceAll(got, key, name)
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		asSafe := mainnet.Pass().ReadFrom(Address{0x5a}, Transaction{To: Address(self), Data: c.data}, true).Effects()
		if len(asSafe) != 1 || !asSafe[0].Undecoded {
			t.Errorf("%s, by delegatecall: %s", c.name, effectLines(asSafe, names))
		}
	}
}
