; SPDX-License-Identifier: Apache-2.0
(ns shop
  (:require [clojure.string :as string] [clojure.set :as set])
  (:gen-class))

(defprotocol Priced (price [this]))
(defrecord Book [title cost] Priced (price [_] cost))
(defrecord Tool [name cost weight] Priced (price [_] (+ cost (if (> weight 10) 1 0))))

(defmulti describe class)
(defmethod describe Book [b] (str "book " (:title b)))
(defmethod describe Tool [t] (str "tool " (:name t)))

(defmacro unless [test & body] `(if ~test nil (do ~@body)))

(defn total [n]
  (reduce + (map price (concat (map (fn [k] (->Book (str k) k)) (range n)) [(->Tool "a" 3 12)]))))

(defn words [text]
  (->> (string/split text #"\s+") (map string/lower-case) frequencies (sort-by val >)))

(defn -main [& args]
  (unless (empty? args) (println (words (first args))))
  (println (total 10) (set/union #{1} #{2})))
