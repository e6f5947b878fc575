package keyformat_test

import (
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// A key in Bitcoin's wallet import format is converted to hex.
func ExampleParseWIF() {
	wif, err := keyformat.ParseWIF([]byte("KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617"))
	if err != nil {
		log.Fatal(err)
	}
	defer wif.Key.Wipe()
	fmt.Printf("%s\n", wif.Key.Hex())
	fmt.Println(wif.Key.PublicKey)
	// Output:
	// 0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d
	// 02d0de0aaeaefad02b8bdc8a01a1b8b11c696bd3d66a2c5f10780d95b7df42645c
}
