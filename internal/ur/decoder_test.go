package ur

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// carry carries a message to a collector over a channel that loses some codes,
// and returns how many were shown.
func carry(t *testing.T, message Message, fragment int, loss float64, from *rand.Rand) (shown, parts int) {
	t.Helper()
	encoder := encoderOf(t, message, fragment)
	collector := NewCollector(message.Type)
	for {
		code := encoder.Next()
		shown++
		if from.Float64() < loss {
			continue
		}
		if err := collector.Add(strings.ToUpper(code)); err != nil {
			t.Fatalf("code %d: %v", shown, err)
		}
		if got, ok := collector.Message(); ok {
			if got.Type != message.Type || !bytes.Equal(got.CBOR, message.CBOR) {
				t.Fatal("another message arrived")
			}
			return shown, encoder.Parts()
		}
		if shown > 100*encoder.Parts()+100 {
			t.Fatalf("not complete after %d codes of %d parts", shown, encoder.Parts())
		}
	}
}

// TestCarry carries messages of many lengths with many fragment lengths, with
// and without loss.
func TestCarry(t *testing.T) {
	from := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int{1, 9, 10, 11, 255, 256, 1000, 5447, 20_000} {
		for _, fragment := range []int{10, 55, 70, 250, 490, 1030} {
			if length/fragment > MaxParts/2 {
				continue
			}
			for _, loss := range []float64{0, 0.2, 0.5} {
				shown, parts := carry(t, Message{TypePSBT, randomMessage(length)}, fragment, loss, from)
				if loss == 0 && shown != parts {
					t.Errorf("%d bytes in fragments of %d: %d codes for %d parts without any loss", length, fragment, shown, parts)
				}
			}
		}
	}
}

// TestLoss bounds how many codes are needed, on average over 40 messages of 80
// parts: the promise of Gauss elimination. @ngraveio/bc-ur needs 1.5 times the
// parts at 20 % loss, and 3.1 times at 50 %.
func TestLoss(t *testing.T) {
	from := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ loss, most float64 }{{0, 1}, {0.2, 1.6}, {0.5, 2.6}} {
		var shown, parts int
		for range 40 {
			s, p := carry(t, Message{TypePSBT, randomMessage(20_000)}, 250, c.loss, from)
			shown, parts = shown+s, parts+p
		}
		times := float64(shown) / float64(parts)
		t.Logf("loss %.0f %%: %.2f codes a part", 100*c.loss, times)
		if times > c.most {
			t.Errorf("loss %.0f %%: %.2f codes a part, more than %.2f", 100*c.loss, times, c.most)
		}
	}
}

func codes(t *testing.T, message Message, fragment, count int) []string {
	t.Helper()
	encoder := encoderOf(t, message, fragment)
	return generate(count, encoder.Next)
}

// TestForeignCodes checks that codes of other messages do not affect a collector.
func TestForeignCodes(t *testing.T) {
	message := Message{TypePSBT, randomMessage(1000)}
	other := codes(t, Message{TypePSBT, randomMessage(1001)}, 100, 5)
	wrongType := codes(t, Message{"crypto-seed", randomMessage(1000)}, 100, 5)
	single := Message{TypePSBT, []byte{0x40}}.String()
	collector := NewCollector(TypePSBT)
	for i, code := range codes(t, message, 100, 10) {
		testenv.Must(t, collector.Add(code))
		if i == 9 {
			break
		}
		if err := collector.Add(code[:len(code)-2] + "zz"); err == nil {
			t.Error("a damaged code was taken")
		}
		for foreign, want := range map[string]error{
			other[i%5]: ErrOtherMessage, single: ErrOtherMessage, "B$HP0100AB": ErrOtherMessage,
			"https://example.com": ErrNotUR,
		} {
			if err := collector.Add(foreign); !errors.Is(err, want) {
				t.Errorf("%.20s: %v, want %v", foreign, err, want)
			}
		}
		wrong, ok := errors.AsType[*TypeError](collector.Add(wrongType[i%5]))
		if !ok || wrong.Seen != "crypto-seed" || len(wrong.Taken) != 1 {
			t.Errorf("a code of another type: %v", wrong)
		}
		if progress := collector.Progress(); progress.Have != i+1 || progress.Parts != 10 {
			t.Errorf("progress is %+v after %d parts", progress, i+1)
		}
	}
	if got, ok := collector.Message(); !ok || !bytes.Equal(got.CBOR, message.CBOR) {
		t.Error("the message did not arrive")
	}
}

// TestLyingPart checks that a wrong part with a matching checksum spoils what was
// gathered, and the message is read from the beginning.
func TestLyingPart(t *testing.T) {
	message := Message{TypePSBT, randomMessage(1000)}
	encoder := encoderOf(t, message, 100)
	lie := encoder.part(1)
	lie.Data[0] ^= 1
	collector := NewCollector(TypePSBT)
	testenv.Must(t, collector.Add(lie.text(TypePSBT)))
	refused := 0
	for range 30 {
		if err := collector.Add(encoder.Next()); errors.Is(err, errMessageChecksum) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := collector.Message(); !ok || refused != 1 || !bytes.Equal(got.CBOR, message.CBOR) {
		t.Errorf("refused %d times, complete: %v", refused, ok)
	}
}

// TestPartBounds refuses parts whose message would be too large, or whose numbers
// do not fit together, before anything is allocated for them.
func TestPartBounds(t *testing.T) {
	for name, p := range map[string]*part{
		"long":         {Number: 1, Count: 1025, Length: MaxMessage + 1, Data: make([]byte, 256)},
		"many parts":   {Number: 1, Count: MaxParts + 1, Length: MaxParts + 1, Data: make([]byte, 1)},
		"largest":      {Number: 1<<32 - 1, Count: 1<<32 - 1, Length: 1<<32 - 1, Data: make([]byte, 1)},
		"no data":      {Number: 1, Count: 1, Length: 1},
		"empty":        {Number: 1, Count: 0, Length: 0, Data: make([]byte, 1)},
		"part 0":       {Number: 0, Count: 2, Length: 20, Data: make([]byte, 10)},
		"too few":      {Number: 1, Count: 2, Length: 21, Data: make([]byte, 10)},
		"more padding": {Number: 1, Count: 3, Length: 20, Data: make([]byte, 10)},
	} {
		collector := NewCollector(TypePSBT)
		if err := collector.Add(p.text(TypePSBT)); err == nil || collector.parts != nil || collector.series != nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestLargestParts has the longest message and the most parts.
func TestLargestParts(t *testing.T) {
	for _, p := range []part{
		{Number: 1, Count: 1024, Length: MaxMessage, Data: make([]byte, 256)},
		{Number: 1, Count: MaxParts, Length: MaxParts, Data: make([]byte, 1)},
	} {
		if err := p.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestNotDeterministic refuses other encodings of the same part.
func TestNotDeterministic(t *testing.T) {
	p := &part{Number: 1, Count: 2, Length: 20, Checksum: 1, Data: make([]byte, 10)}
	good := marshal(p)
	long := append([]byte{good[0], 0x18}, good[1:]...) // the number 1 in two bytes
	indefinite := append(append([]byte{0x9f}, good[1:]...), 0xff)
	behind := append(bytes.Clone(good), 0)
	for _, bad := range [][]byte{long, indefinite, behind} {
		code := string(appendBytewords([]byte("ur:psbt/1-2/"), bad))
		if err := NewCollector(TypePSBT).Add(code); err == nil {
			t.Errorf("%x was taken", bad)
		}
	}
	if err := NewCollector(TypePSBT).Add(string(appendBytewords([]byte("ur:psbt/2-2/"), good))); err == nil {
		t.Error("a part was taken whose number is another inside")
	}
}

// TestHostileFrames sends the frames that cost most: the most parts, the most
// mixed ones, none of them sufficient. The decoder keeps one row a part, and does
// at most one addition for each row that it has.
func TestHostileFrames(t *testing.T) {
	first := &part{Number: 1, Count: MaxParts, Length: MaxMessage, Checksum: 7, Data: make([]byte, MaxMessage/MaxParts)}
	f := newFountain(first)
	for number := uint32(MaxParts + 1); number < 2*MaxParts; number++ {
		p := *first
		p.Number = number
		f.add(&p)
	}
	kept := 0
	for _, r := range f.solver.rows {
		if r != nil {
			kept += 8*len(r.set) + len(r.data)
		}
	}
	if most := MaxParts*MaxParts/8 + MaxMessage; kept > most {
		t.Errorf("%d bytes are kept: at most %d", kept, most)
	}
}

// TestMaxFragment checks that no part is longer than requested, and that the bound is
// not far away.
func TestMaxFragment(t *testing.T) {
	for _, characters := range []int{154, 195, 619, 1046, 2132, 4296} {
		fragment := MaxFragment(TypeRequest, characters)
		encoder := encoderOf(t, Message{TypeRequest, randomMessage(20 * fragment)}, fragment)
		longest := 0
		for _, number := range []uint32{1, 1000, maxNumber} {
			longest = max(longest, len(encoder.part(number).text(TypeRequest)))
		}
		if longest > characters || longest < characters-30 {
			t.Errorf("a part of %d characters, want about %d", longest, characters)
		}
	}
}

// TestProgressOfOneCode has a message of a single code.
func TestProgressOfOneCode(t *testing.T) {
	collector := NewCollector(TypePSBT)
	if got := collector.Progress(); got != (Progress{}) {
		t.Errorf("progress %+v at the beginning", got)
	}
	testenv.Must(t, collector.Add(Message{TypePSBT, []byte{0x40}}.String()))
	if got := collector.Progress(); got != (Progress{TypePSBT, 1, 1, 1}) {
		t.Errorf("progress %+v at the end", got)
	}
}

// TestMaxText has a code of the largest length, and a longer one.
func TestMaxText(t *testing.T) {
	for length, ok := range map[int]bool{MaxText: true, MaxText + 2: false} {
		code := Message{TypePSBT, make([]byte, (length-len("ur:psbt/"))/2-4)}.String()
		if err := NewCollector(TypePSBT).Add(code); len(code) != length || ok != (err == nil) {
			t.Errorf("%d characters: %v", len(code), err)
		}
	}
}

// TestShapeOfCodes has codes with other fields than a type, perhaps a sequence, and data.
func TestShapeOfCodes(t *testing.T) {
	long := strings.Repeat("z", maxType)
	for _, kind := range []string{"a", "z", "0", "9", "-", "a-z-0-9", long} {
		if got, err := split("ur:" + kind + "/ae"); err != nil || got.kind != kind {
			t.Errorf("type %s: %v", kind, err)
		}
	}
	for code, shown := range map[string]string{
		"ur:psbt": "ur:psbt", "ur:psbt/1-2/ae/ae": "ur:psbt/1-2/ae/ae", "ur:/ae": "ur:/ae", "ur:a_b/ae": "ur:a_b/ae", "ur:\u00e9/ae": "ur:\u00e9/ae",
		"ur:" + long + "z/ae": "ur:" + long[:37] + "…",
		"ur:" + long[:37]:     "ur:" + long[:37],
		"ur:" + long[:38]:     "ur:" + long[:37] + "…",
	} {
		if _, err := split(code); err == nil || err.Error() != fmt.Sprintf("expected ur:TYPE/DATA or ur:TYPE/NUMBER-COUNT/DATA, not %q", shown) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestSameMessage changes each of what the parts of a message agree on.
func TestSameMessage(t *testing.T) {
	first := part{Number: 1, Count: 3, Length: 30, Checksum: 7, Data: make([]byte, 10)}
	other := part{Number: 2, Count: 3, Length: 30, Checksum: 7, Data: make([]byte, 10)}
	if !first.sameMessage(&other) {
		t.Error("parts of one message")
	}
	for _, by := range []int{-1, 1} {
		count, length, checksum, data := other, other, other, other
		count.Count += uint32(by)
		length.Length += uint32(by)
		checksum.Checksum += uint32(by)
		data.Data = make([]byte, 10+by)
		for _, changed := range []part{count, length, checksum, data} {
			if first.sameMessage(&changed) {
				t.Errorf("%+v is of the same message", changed)
			}
		}
	}
}

// TestCures checks that the error for each type that wallets may send says which types are
// accepted, and what to send instead.
func TestCures(t *testing.T) {
	for kind, cure := range map[string]string{
		"keystone-sign-request":  ": it describes the transfer without the bytes to sign; send tron-sign-request, or a stamped request",
		"bytes":                  ": ur:bytes does not say what it contains; send the type of its content",
		"eth-batch-sign-request": ": send the transactions one by one",
		"crypto-seed":            "",
	} {
		err := NewCollector(TypePSBT, TypeRequest).Add(Message{kind, []byte{1}}.String())
		if want := "the code is of type " + kind + "; taken here: psbt, x-countersign-request" + cure; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOtherConventions: codes of other conventions are refused by name, and the right ones
// are still taken afterwards.
func TestOtherConventions(t *testing.T) {
	collector := NewCollector(TypePSBT)
	for code, want := range map[string]string{
		"p1of3 cHNidP8BAFICAAAAAWHy": "Specter's form",
		"UR:BYTES/1OF2/TZAHQUMZWNLSZQZJQGQQQQQ5QSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP/QYQ": "bc-ur v1",
		"cHNidP8BAFICAAAAAWHy": "a PSBT in base64",
		"70736274FF0100":       "a PSBT in hex",
		"bitcoin:bc1q":         "neither a Uniform Resource",
	} {
		if err := collector.Add(code); !errors.Is(err, ErrNotUR) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	code := encoderOf(t, Message{TypePSBT, []byte("\x45psbt\xff")}, 400)
	if err := collector.Add(code.Next()); err != nil {
		t.Error(err)
	}
}

func encoderOf(t testing.TB, message Message, fragment int) *Encoder {
	t.Helper()
	encoder, err := NewEncoder(message, fragment)
	testenv.Must(t, err)
	return encoder
}
