module Main where
import qualified Data.IORef as R
import Control.Concurrent
import Control.Exception
import System.Environment

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}

thrower :: Int -> IO Int
thrower i = if odd i then throwIO (userError "odd") else return i
{-# NOINLINE thrower #-}

catcher :: Int -> IO Int
catcher i = thrower i `catch` \e -> return (length (show (e :: IOException)))
{-# NOINLINE catcher #-}

main :: IO ()
main = do
  [a] <- getArgs
  done <- newEmptyMVar
  _ <- forkIO (mapM catcher [1 .. read a] >>= putMVar done . sum)
  s <- takeMVar done
  print (s, fib 20, length (show [1 .. (read a :: Integer)]))
