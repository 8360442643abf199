// Encodes and decodes header blocks with the HPACK of Go, for the differential test. It reads one JSON request a line and writes one
// JSON answer a line. The tables live until a request with fresh.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"

	"golang.org/x/net/http2/hpack"
)

type request struct {
	// A new encoder and a new decoder.
	Fresh bool `json:"fresh"`
	// The table that both directions may use from now on; absent: unchanged.
	Table *uint32 `json:"table"`
	// Names and values to encode, alternating.
	Encode []string `json:"encode"`
	// A header block to decode, in hexadecimal.
	Decode string `json:"decode"`
}

type answer struct {
	Block  string   `json:"block,omitempty"`
	Fields []string `json:"fields,omitempty"`
	Error  string   `json:"error,omitempty"`
}

func main() {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	decoder := hpack.NewDecoder(4096, nil)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		var made answer
		if asked.Fresh {
			encoder, decoder = hpack.NewEncoder(&block), hpack.NewDecoder(4096, nil)
		}
		if asked.Table != nil {
			encoder.SetMaxDynamicTableSize(*asked.Table)
			decoder.SetAllowedMaxDynamicTableSize(*asked.Table)
		}
		for i := 0; i+1 < len(asked.Encode); i += 2 {
			field := hpack.HeaderField{Name: asked.Encode[i], Value: asked.Encode[i+1], Sensitive: i%7 == 0}
			if err := encoder.WriteField(field); err != nil {
				panic(err)
			}
		}
		made.Block = hex.EncodeToString(block.Bytes())
		block.Reset()
		if asked.Decode != "" {
			bytes, _ := hex.DecodeString(asked.Decode)
			fields, err := decoder.DecodeFull(bytes)
			if err != nil {
				made.Error = err.Error()
			}
			for _, field := range fields {
				made.Fields = append(made.Fields, latin1(field.Name), latin1(field.Value))
			}
		}
		if err := out.Encode(made); err != nil {
			return
		}
	}
}

// Each byte becomes the character of that number, because JSON holds no bytes.
func latin1(text string) string {
	runes := make([]rune, len(text))
	for i := range runes {
		runes[i] = rune(text[i])
	}
	return string(runes)
}
