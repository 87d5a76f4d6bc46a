module recipe

go 1.19

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/sony/sonyflake v1.2.0
)
