//go:build tools

// Package tools names the programs that are built from modules, so that go.mod keeps the modules.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2specd"
