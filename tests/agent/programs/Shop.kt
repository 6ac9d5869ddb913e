// SPDX-License-Identifier: Apache-2.0
package shop

sealed class Item(val price: Int)
data class Book(val title: String, val cost: Int) : Item(cost)
data class Tool(val name: String, val cost: Int, val weight: Double = 1.0) : Item(cost)

interface Greets {
    fun greet(): String = "hello"
}

class Cart(private val items: List<Item>) : Greets {
    val total: Int by lazy { items.sumBy { it.price } }

    fun describe() = items.map {
        when (it) {
            is Book -> "book ${it.title}"
            is Tool -> if (it.weight > 10) "heavy ${it.name}" else it.name
        }
    }
}

inline fun <reified T : Item> List<T>.dearest(): T? = maxBy { it.price }

tailrec fun gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b)

fun main(args: Array<String>) {
    val list = listOf(Book("a", 3), Tool("b", 5, 12.5))
    println(Cart(list).describe().joinToString() + list.dearest() + gcd(12, 18))
}
