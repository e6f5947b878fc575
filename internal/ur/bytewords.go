package ur

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// letters are the first and the last letter of each of the 256 bytewords
// (BCR-2020-012), which identify the word.
const letters = "" +
	"aeadaoaxaaahamatayasbkbdbnbtbabsbebybgbwbbbzcmchcscfcycwcecackct" +
	"cxclcpcndkdadsdidedtdrdndwdpdmdldyeheyeoeeecenemetesftfrfnfsfmfh" +
	"fzfpfwfxfyfefgflfdgagegrgsgtglgwgdgygmgughgohfhghdhkhthphhhlhyhe" +
	"hnhsidiaieihiyioisinimjejzjnjtjljojsjpjkjykpkoktkskkknkgkekikblb" +
	"lalylflslrlplnltloldlelulklgmnmymhmemomumwmdmtmsmknlnyndnsntnnne" +
	"nboyoeotoxonolospdptpkpypspmplpepfpaprqdqzrerprlrorhrdrkrfryrnrs" +
	"rtsesasrssskswstspsosgsbsfsntotktitttdtetytltbtstptatnuyuoutueur" +
	"vtvyvovlvevwvavdvswlwdwmwpwewywswtwnwzwfwkykynylyaytzszoztzczezm"

// letterValues maps the two letters of a word to its value, or -1 for no word.
var letterValues = func() (values [26 * 26]int16) {
	for i := range values {
		values[i] = -1
	}
	for i := range 256 {
		values[26*int(letters[2*i]-'a')+int(letters[2*i+1]-'a')] = int16(i)
	}
	return values
}()

// ErrChecksum means that a text is damaged: its CRC-32 does not match.
var ErrChecksum = errors.New("checksum does not match: the text was damaged")

// appendBytewords appends the data and its CRC-32, big-endian, in the minimal style:
// two letters per byte.
func appendBytewords(dst, data []byte) []byte {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
	for _, part := range [...][]byte{data, sum} {
		for _, b := range part {
			dst = append(dst, letters[2*int(b)], letters[2*int(b)+1])
		}
	}
	return dst
}

// decodeBytewords decodes the minimal style, in lower case, and checks the CRC-32.
func decodeBytewords(text string) ([]byte, error) {
	if len(text)%2 != 0 || len(text) < 2*crc32.Size {
		return nil, fmt.Errorf("bytewords: %d letters: expected an even number of at least %d", len(text), 2*crc32.Size)
	}
	data := make([]byte, 0, len(text)/2)
	for i := 0; i < len(text); i += 2 {
		first, last := text[i]-'a', text[i+1]-'a'
		if first >= 26 || last >= 26 || letterValues[26*int(first)+int(last)] < 0 {
			return nil, fmt.Errorf("bytewords: %q at letter %d is not a word", strings.ToValidUTF8(text[i:i+2], "?"), i)
		}
		data = append(data, byte(letterValues[26*int(first)+int(last)]))
	}
	end := len(data) - crc32.Size
	if crc32.ChecksumIEEE(data[:end]) != binary.BigEndian.Uint32(data[end:]) {
		return nil, ErrChecksum
	}
	return data[:end], nil
}
