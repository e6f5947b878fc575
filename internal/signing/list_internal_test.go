package signing

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// signs is one transaction of a list, which remembers the signed transaction that it returned.
type signs struct {
	chains.Signing
	do   func()
	err  error
	made []byte
}

func (s *signs) AppendSigned(_ context.Context, out []byte) ([]byte, error) {
	s.do()
	if s.err != nil {
		return nil, s.err
	}
	s.made = append(out, "signed"...)
	return s.made, nil
}

// TestListIsWiped: whatever ends a list, no signed transaction of it stays in memory but in its
// result, which only a whole list has.
func TestListIsWiped(t *testing.T) {
	const count, third = 5, 3
	for what, end := range map[string]func(of *signs, cancel func()){
		"nothing":        func(*signs, func()) {},
		"a key's error":  func(of *signs, _ func()) { of.err = errors.New("the key service is down") },
		"a lost lease":   func(of *signs, cancel func()) { of.do = cancel },
		"a panic of one": func(of *signs, _ func()) { of.do = func() { panic("a bug") } },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		list, all := new(List), make([]*signs, count)
		for i := range all {
			all[i] = &signs{do: func() {}}
			list.Parts = append(list.Parts, &Prepared{signing: all[i]})
		}
		end(all[third], cancel)
		panicked := true
		func() {
			defer func() { _ = recover() }()
			done, err := list.Perform(ctx)
			panicked = false
			result, whole := done.Result.(activity.SignTransactionsResult)
			if whole != (what == "nothing") || whole != (err == nil) ||
				whole && result.SignedTransactions[count-1] != "7369676e6564" {
				t.Errorf("%s: %+v, %v", what, done, err)
			}
		}()
		if panicked != (what == "a panic of one") {
			t.Errorf("%s: it panicked: %v", what, panicked)
		}
		for i, of := range all {
			whole := what == "nothing"
			if len(bytes.Trim(of.made, "\x00")) > 0 || whole && of.made == nil || i > third && !whole && of.made != nil {
				t.Errorf("%s: of transaction %d remains %q", what, i, of.made)
			}
		}
	}
}
