// An HTTP/2 server of Go over TLS that echoes requests: the path and the x-id come back as headers, and the body as the body.
// A request with x-goaway makes it send GOAWAY.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http2"
)

func main() {
	port := flag.Uint("port", 0, "port of 127.0.0.1")
	cert := flag.String("cert", "", "file of the certificate")
	key := flag.String("key", "", "file of its key")
	table := flag.Uint("table", 4096, "size of the HPACK tables")
	window := flag.Int("window", 65535, "window of a stream")
	streams := flag.Uint("streams", 100, "maximum number of concurrent streams")
	flag.Parse()

	server := &http.Server{Handler: http.HandlerFunc(echo)}
	check(http2.ConfigureServer(server, &http2.Server{
		MaxConcurrentStreams:         uint32(*streams),
		MaxDecoderHeaderTableSize:    uint32(*table),
		MaxEncoderHeaderTableSize:    uint32(*table),
		MaxUploadBufferPerStream:     int32(*window),
		MaxUploadBufferPerConnection: 1 << 17,
	}))
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	check(err)
	server.TLSConfig.Certificates = []tls.Certificate{pair}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	check(err)
	fmt.Println("listening")
	check(server.ServeTLS(listener, "", ""))
}

func echo(answer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	header := answer.Header()
	header.Set("x-path", request.URL.Path)
	header.Set("x-id", request.Header.Get("x-id"))
	// Its answer has HEADERS and CONTINUATION.
	if request.Header.Get("x-long") != "" {
		for i := 0; i < 4; i++ {
			header.Set(fmt.Sprintf("x-long-%d", i), strings.Repeat("long ", 1200))
		}
	}
	if request.Header.Get("x-goaway") != "" {
		header.Set("Connection", "close")
	}
	answer.Write(body)
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
