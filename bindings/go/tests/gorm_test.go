package tests

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	uidring "github.com/uidring/uidring/bindings/go"
)

var orders *uidring.Generator

// order has a table of its own in each run.
type order struct {
	ID     uidring.Uid `gorm:"primaryKey;autoIncrement:false"`
	Number string
}

var orderTable = fmt.Sprintf("go_orders_%d", rand.Uint64())

func (order) TableName() string { return orderTable }

func (o *order) BeforeCreate(*gorm.DB) (err error) {
	if o.ID == 0 {
		o.ID, err = orders.Take()
	}
	return err
}

// As the README says: the tag and the hook, and a number in GORM's own transaction.
func TestAModelOfGORMHasAnID(t *testing.T) {
	address := server(t, "UIDRING_TEST_POSTGRES")
	var err error
	orders, err = uidring.OpenFixed(7)
	works(t, err)
	defer orders.Close()
	db, err := gorm.Open(postgres.Open(address), &gorm.Config{TranslateError: true})
	works(t, err)
	works(t, db.AutoMigrate(&order{}))
	defer db.Migrator().DropTable(&order{})

	made := []order{{}, {}, {ID: 5}}
	works(t, db.Create(&made).Error)
	if made[0].ID >= made[1].ID || made[0].ID < 1<<40 || made[2].ID != 5 {
		t.Errorf("%v", made)
	}
	var found order
	works(t, db.First(&found, "id = ?", made[1].ID).Error)
	if found.ID != made[1].ID {
		t.Errorf("%d in place of %d", found.ID, made[1].ID)
	}
	if err := db.Create(&order{ID: 5}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("an id twice: %v", err)
	}

	name := "gorm" + orderTable
	stored, err := uidring.OpenSeries(t.Context(), address)
	works(t, err)
	works(t, stored.Create(t.Context(), name, "O{n}", uidring.Gapless()))
	works(t, stored.Close())
	numbers, err := uidring.SeriesInTransactions(uidring.Postgres)
	works(t, err)
	defer numbers.Close()
	for _, expected := range []string{"O1", "O2"} {
		number := ""
		fails := errors.New("rolled back")
		sell := func(ends error) error {
			return db.Transaction(func(tx *gorm.DB) error {
				next, err := numbers.NextIn(t.Context(), tx.Statement.ConnPool, name)
				if err != nil {
					return err
				}
				number = next.Text
				if err := tx.Create(&order{Number: number}).Error; err != nil {
					return err
				}
				return ends
			})
		}
		if err := sell(fails); !errors.Is(err, fails) {
			t.Fatal(err)
		}
		works(t, sell(nil))
		if number != expected {
			t.Errorf("%s in place of %s", number, expected)
		}
	}
}
