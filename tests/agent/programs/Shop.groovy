// SPDX-License-Identifier: Apache-2.0
import groovy.transform.CompileStatic
import groovy.transform.Immutable

@Immutable
class Item {
    String name
    BigDecimal price
}

@CompileStatic
class Cart {
    List<Item> items = []

    Cart leftShift(Item i) {
        items << i
        this
    }

    BigDecimal total() {
        items.inject(0.0G) { BigDecimal sum, Item i -> sum + i.price }
    }
}

trait Greets {
    String greet() { "hello ${getClass().simpleName}" }
}

class Shop implements Greets {
    def prices = [a: 1.5, b: 2.5]
    def each(Closure c) { prices.each { k, v -> c.call(k, v * 2) } }
    static void main(args) {
        def cart = new Cart() << new Item('a', 3.0) << new Item('b', 4.0)
        println "${cart.total()} ${new Shop().greet()} ${(1..10).findAll { it % 2 }.collect { it * it }}"
        switch (cart.total()) {
            case 1..10: println 'cheap'; break
            default: println 'dear'
        }
    }
}
