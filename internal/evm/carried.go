package evm

import (
	"math/big"
	"time"

	"github.com/countersign-dev/countersign/chains"
)

// signatory returns the account that signs what the arguments say: the one in an argument, or
// the signer if typed data names none.
func (c *Call) signatory(name string) chains.Party {
	if v := find(c.args, name); v != nil {
		return c.party(v.address())
	}
	return chains.SignerParty()
}

// under returns the path of an effect of a member of typed data; that of a call is its own.
func (c *Call) under(path string) string {
	if c.typed {
		return c.path + "/" + path
	}
	return c.path
}

// requireSignature returns the authorization of the next effect, which an account signs. In calldata
// the signature is among the arguments; over typed data it is the one that is requested.
func (e *emitter) requireSignature(c *Call, owner chains.Party) (chains.By, chains.Party) {
	if !c.typed {
		return chains.ByOther, owner
	}
	if !owner.IsSigner() {
		e.signed.Owners = append(e.signed.Owners, Claim{owner, len(e.effects)})
	}
	return chains.BySigner, chains.Party{}
}

// setEnd says until when the last effect can happen. What takes a permission back may.
func (e *emitter) setEnd(c *Call, until chains.Until) {
	if last := len(e.effects) - 1; c.typed && last >= 0 && e.effects[last].Kind != chains.KindRevoke {
		e.signed.Ends = append(e.signed.Ends, end{last, until})
	}
}

// setEndOfAll says until when the message can be used.
func (e *emitter) setEndOfAll(c *Call, until chains.Until) {
	if c.typed {
		e.signed.Ends = append(e.signed.Ends, end{-1, until})
	}
}

// timeOrNever is TimeOf where 0 stands for never.
func timeOrNever(seconds *big.Int) chains.Until {
	if seconds.Sign() == 0 {
		return chains.Until{}
	}
	return TimeOf(seconds)
}

// TimeOf returns the time of seconds since 1970. What RFC 3339 cannot write is never.
func TimeOf(seconds *big.Int) chains.Until {
	if !seconds.IsInt64() || seconds.Sign() < 0 || seconds.Int64() > chains.LastSecond {
		return chains.Until{}
	}
	return chains.Until{Time: time.Unix(seconds.Int64(), 0)}
}
