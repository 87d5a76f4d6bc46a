module recipe

go 1.25.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/sony/sonyflake v1.2.0
	github.com/uidring/uidring/bindings/go v0.0.0
)

require github.com/ebitengine/purego v0.11.3 // indirect

replace github.com/uidring/uidring/bindings/go => ../../../bindings/go
