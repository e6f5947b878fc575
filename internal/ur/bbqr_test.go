package ur

import (
	"bytes"
	"compress/flate"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// bbqr writes a message as so many codes, as bbqr.org specifies.
func bbqr(t *testing.T, kind, encoding byte, message []byte, count int) []string {
	t.Helper()
	if encoding == 'Z' {
		var deflated bytes.Buffer
		w, err := flate.NewWriter(&deflated, flate.BestCompression)
		testenv.Must(t, err)
		w.Write(message)
		w.Close()
		message = deflated.Bytes()
	}
	size := len(message) / count / 5 * 5 // whole groups of base32
	var out []string
	for i := range count {
		part := message[i*size:]
		if i < count-1 {
			part = part[:size]
		}
		data := strings.ToUpper(hex.EncodeToString(part))
		if encoding != 'H' {
			data = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(part)
		}
		out = append(out, fmt.Sprintf("B$%c%c%s%s%s", encoding, kind, digits(count), digits(i), data))
	}
	return out
}

// digits writes two digits of base 36.
func digits(n int) string {
	return strings.ToUpper(fmt.Sprintf("%02s", strconv.FormatInt(int64(n), 36)))
}

// TestBBQr carries messages in each encoding and in many numbers of codes, in any order
// and with repetitions.
func TestBBQr(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, encoding := range []byte("H2Z") {
		for _, count := range []int{1, 2, 35, 36, 37, 1295} {
			for kind, of := range map[byte]string{'P': TypePSBT, 'J': TypeJSON} {
				message := randomMessage(max(2000, 6*count))
				codes := bbqr(t, kind, encoding, message, count)
				random.Shuffle(count, func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
				collector := NewCollector(TypePSBT, TypeJSON)
				for i, code := range codes {
					for range 2 {
						if err := collector.Add(code); err != nil {
							t.Fatalf("%.8s: %v", code, err)
						}
					}
					if _, ok := collector.Message(); ok != (i == count-1) {
						t.Fatalf("%.8s: complete: %v after %d of %d", code, ok, i+1, count)
					}
					if got := collector.Progress(); got.Type != of || got.Have != i+1 || got.Parts != count {
						t.Fatalf("%.8s: progress %+v after %d of %d", code, got, i+1, count)
					}
				}
				got, _ := collector.Message()
				if of == TypePSBT {
					message = marshal(message)
				}
				if got.Type != of || !bytes.Equal(got.CBOR, message) {
					t.Errorf("%c%c, %d codes: read differently", encoding, kind, count)
				}
			}
		}
	}
}

// TestBBQrRefused has what is wrong with single codes.
func TestBBQrRefused(t *testing.T) {
	for code, problem := range map[string]string{
		"B$HP0100":      "a BBQr code of 8 characters: expected 9 to 4296",
		"B$":            "a BBQr code of 2 characters",
		"B$HP0000AB":    `BBQr header "B$HP0000": expected a count`,
		"B$HP0101AB":    `BBQr header "B$HP0101": expected a count and an index below it`,
		"B$HP0203AB":    `BBQr header "B$HP0203": expected a count and an index below it`,
		"B$HP0a00AB":    `BBQr header "B$HP0a00"`,
		"B$HP020aAB":    `BBQr header "B$HP020a"`,
		"B$HP+100AB":    `BBQr header "B$HP+100"`,
		"B$HP01-0AB":    `BBQr header "B$HP01-0"`,
		"B$HP_100AB":    `BBQr header "B$HP_100"`,
		"B$HP0!00AB":    `BBQr header "B$HP0!00"`,
		"B$HP020!AB":    `BBQr header "B$HP020!"`,
		"B$HP02-1AB":    `BBQr header "B$HP02-1"`,
		"B$HP02_1AB":    `BBQr header "B$HP02_1"`,
		"BITCOIN:1A":    "this code is neither a Uniform Resource",
		"B$GP0100AB":    "BBQr encoding 'G'",
		"B$hP0100AB":    "BBQr encoding 'h'",
		"B$HP0100AZ":    "BBQr code 1 of 1: ",
		"B$HP0201A":     "BBQr code 2 of 2: ",
		"B$2P0100A1":    "BBQr code 1 of 1: ",
		"B$ZP0100AB":    "BBQr: inflate: ",
		"B$HT0100AB":    "the code is of type bbqr-t; taken here: psbt, bbqr-json",
		"B$HU0100AB":    "the code is of type bbqr-u",
		"B$H\xff0100AB": "the code is of type bbqr-?",
		"B$HP0100" + strings.Repeat("AB", 2143) + "A": "BBQr code 1 of 1: ",
		"B$HP0100" + strings.Repeat("AB", 2145):       "a BBQr code of 4298 characters",
	} {
		collector := NewCollector(TypePSBT, TypeJSON)
		if err := collector.Add(code); err == nil || !strings.HasPrefix(err.Error(), problem) {
			t.Errorf("%.20s: %v, want %q", code, err, problem)
		}
		if err := collector.Add("B$HJ0100AB"); err != nil {
			t.Errorf("a good code after %.20s: %v", code, err)
		}
	}
	if err := NewCollector(TypePSBT).Add("B$HP0100" + strings.Repeat("AB", 2144)); err != nil {
		t.Errorf("the longest code: %v", err)
	}
}

// TestBBQrBounds inflates and joins to MaxMessage bytes, and not to more. It refuses
// what follows the end of the deflated data.
func TestBBQrBounds(t *testing.T) {
	for size, problem := range map[int]string{MaxMessage: "", MaxMessage + 1: "more than 262144 bytes"} {
		for _, encoding := range []byte("HZ") {
			count := map[byte]int{'H': 200, 'Z': 1}[encoding]
			collector := NewCollector(TypeJSON)
			var err error
			for _, code := range bbqr(t, 'J', encoding, make([]byte, size), count) {
				err = errors.Join(err, collector.Add(code))
			}
			if got, ok := collector.Message(); problem == "" && (err != nil || !ok || len(got.CBOR) != size) {
				t.Errorf("%c, %d bytes: %v", encoding, size, err)
			} else if problem != "" && (ok || err == nil || !strings.Contains(err.Error(), problem)) {
				t.Errorf("%c, %d bytes: %v", encoding, size, err)
			}
		}
	}
	deflated, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(bbqr(t, 'J', 'Z', []byte("{}"), 1)[0][bbqrHeader:])
	testenv.Must(t, err)
	code := "B$ZJ0100" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(append(deflated, 7))
	if err := NewCollector(TypeJSON).Add(code); err == nil || err.Error() != "BBQr: 1 bytes after the end" {
		t.Errorf("%v", err)
	}
}

// TestRefusedCodesChangeNothing adds codes that are damaged or of another message, at
// the beginning and between the codes of a message of either kind. Each is refused, and
// the message arrives as without it.
func TestRefusedCodesChangeNothing(t *testing.T) {
	message, other := randomMessage(1000), randomMessage(1005)
	parts := codes(t, Message{TypePSBT, marshal(message)}, 100, 11)
	otherParts := codes(t, Message{TypePSBT, marshal(other)}, 100, 11)
	series := bbqr(t, 'P', 'H', message, 3)
	whole := Message{TypePSBT, marshal(other[:50])}.String()
	cut := func(code string) string { return code[:len(code)-1] }
	atAnyTime := []string{
		"", "ur:", "ur:psbt", "ur:psbt/", "ur:psbt/1-2", "B$", "https://example.com", cut(parts[0]), parts[0][:len(parts[0])-2] + "zz", cut(whole),
		strings.Replace(parts[1], "/2-", "/3-", 1), "B$HP0200A", "B$2P0500A1", "B$ZP0100AB", "B$HT0200AB", "ur:crypto-seed/" + whole[8:],
	}
	once := map[string][]string{
		"parts":  {otherParts[1], whole, series[0], "B$HJ0200AB", Message{TypeCryptoPSBT, marshal(other)[:50]}.String(), strings.Replace(parts[3], "psbt", TypeCryptoPSBT, 1)},
		"series": {otherParts[1], parts[0], whole, "B$HJ0302AB", "B$HP0402AB", "B$HP0201AB", "B$2P0302AB", "B$ZP0302AB", "B$HP0300AB", series[0] + "AB"},
	}
	for kind, own := range map[string][]string{"parts": parts, "series": series} {
		collector := NewCollector(TypePSBT, TypeJSON, TypeCryptoPSBT)
		frames := 0
		for i, code := range own {
			bad := atAnyTime
			if i > 0 {
				bad = slices.Concat(bad, once[kind])
			}
			if _, ok := collector.Message(); ok {
				break
			}
			for _, code := range bad {
				before := collector.Progress()
				before.Frames = frames + 1
				frames++
				if err := collector.Add(code); err == nil {
					t.Errorf("%s, after %d codes: %.30q was accepted", kind, i, code)
				}
				if after := collector.Progress(); after != before {
					t.Errorf("%s, after %d codes: %.30q: progress %+v, want %+v", kind, i, code, after, before)
				}
			}
			frames++
			if err := collector.Add(code); err != nil {
				t.Fatalf("%s, code %d: %v", kind, i, err)
			}
		}
		if got, ok := collector.Message(); !ok || got.Type != TypePSBT || !bytes.Equal(got.CBOR, marshal(message)) {
			t.Errorf("%s: the message did not arrive", kind)
		}
		if got, count := collector.Progress(), map[string]int{"parts": 11, "series": 3}[kind]; got != (Progress{TypePSBT, count, count, frames}) {
			t.Errorf("%s: progress %+v at the end", kind, got)
		}
	}
}
