package library

import "embed"

//go:embed linux_amd64
var files embed.FS

const folder = "linux_amd64"
